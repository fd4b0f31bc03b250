/** One round: a backlog is published, then worked off, and everybody's count is compared. */

import type { Report } from '../receiver.ts'
import type { Stored } from '../sides/_protocol.ts'
import type { SideSpec } from '../sides/catalog.ts'
import type { Bench } from './bench.ts'
import { tallyProblems } from './checks.ts'
import type { Child } from './child.ts'
import { cpuOf, cpuOfTree, peakMb } from './proc.ts'

/** What a round measured; CPU in µs and WAL in bytes, each for one delivery. */
export interface Round {
  perSecond: number
  workerCpu: number
  storeCpu: number
  receiverCpu: number
  /** The stand-in for PostgREST, where it is on the path, and the bench itself. */
  gatewayCpu: number
  wal: number
  peakMb: number
  extra: Record<string, number>
}

/** How many events a publisher commits in one transaction of a backlog. */
const BATCH = 500
const TIMEOUT_MS = 120_000

/** A side that can be measured again and again. */
export interface Contestant {
  spec: SideSpec
  worker: Child
}

/** Works off `count` events; throws when a count does not agree. */
export async function drain(
  { server, receiver, redis, turn }: Bench,
  { spec, worker }: Contestant,
  count: number,
): Promise<Round> {
  await turn(spec)
  const before = await worker.ask<Stored>({ do: 'stored' })
  const claimedBefore = await worker.ask<{ claimed: number; errors: number }>({ do: 'counts' })
  await receiver.ask({ do: 'reset', size: count })
  await worker.ask({ do: 'publish', from: 0, count, batch: BATCH })
  await server.sql`checkpoint`
  await worker.ask({ do: 'extra' })

  const storePid = spec.source === 'bullmq' ? (await redis()).pid : server.postmaster
  const cpu = (): number[] => [
    cpuOf(worker.pid),
    cpuOfTree(storePid),
    cpuOf(receiver.pid),
    cpuOf(Deno.pid),
  ]
  const [cpuBefore, walBefore] = [cpu(), await server.wal()]
  const begun = performance.timeOrigin + performance.now()
  await worker.ask({ do: 'work' })
  await receiver.ask<Report>({ do: 'await', count, timeoutMs: TIMEOUT_MS })
  const claims = await worker.ask<{ claimed: number; errors: number }>({ do: 'rest' })
  const [cpuAfter, wal] = [cpu(), await server.wal() - walBefore]

  const report = await receiver.ask<Report>({ do: 'report' })
  const after = await worker.ask<Stored>({ do: 'stored' })
  const problems = tallyProblems({
    ...{ published: count, ...report },
    claimed: claims.claimed - claimedBefore.claimed,
    errors: claims.errors - claimedBefore.errors,
    finished: after.finished === null ? null : after.finished - (before.finished ?? 0),
    unfinished: after.unfinished,
  })
  if (problems.length > 0) throw new Error(`${spec.name}: ${problems.join('; ')}`)
  const [workerCpu = 0, storeCpu = 0, receiverCpu = 0, gatewayCpu = 0] = cpuAfter.map((s, n) =>
    (s - (cpuBefore[n] ?? 0)) / count * 1e6
  )
  return {
    perSecond: count / (report.lastAt - begun) * 1000,
    ...{ workerCpu, storeCpu, receiverCpu, gatewayCpu },
    wal: spec.source === 'bullmq' || spec.isCeiling ? 0 : wal / count,
    peakMb: peakMb(worker.pid),
    extra: await worker.ask({ do: 'extra' }),
  }
}
