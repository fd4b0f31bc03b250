/** One round of a drain: a backlog is published, then worked off, and all counts are compared. */

import type { Report } from '../receiver.ts'
import type { SideSpec } from '../sides/catalog.ts'
import { openAccount } from './account.ts'
import type { Bench } from './bench.ts'
import type { Child } from './child.ts'
import { cpuOf, cpuOfTree, peakMb } from './proc.ts'

/** What a round measured; CPU in µs and WAL in bytes, each for one delivery. */
export interface Round {
  perSecond: number
  /** Milliseconds to publish an event, in transactions of many. */
  publishMs: number
  workerCpu: number
  storeCpu: number
  receiverCpu: number
  /** The stand-in for PostgREST, where it is on the path, and the bench itself. */
  gatewayCpu: number
  wal: number
  peakMb: number
}

/** How many deliveries are committed in one transaction of a backlog, or one event. */
const BATCH = 500
const TIMEOUT_MS = 60_000

/** Works off `events` that go to `fan` endpoints each; throws when a count does not agree. */
export async function drain(
  { server, receiver, redis, turn }: Bench,
  spec: SideSpec,
  worker: Child,
  events: number,
  fan = 1,
): Promise<Round> {
  const count = events * fan
  await turn(spec)
  const account = await openAccount(spec.name, receiver, [worker])
  await receiver.ask({ do: 'reset', size: events, fan })
  const publishing = performance.now()
  const batch = Math.max(1, Math.floor(BATCH / fan))
  await worker.ask({ do: 'publish', from: 0, count: events, batch })
  const publishMs = (performance.now() - publishing) / events
  await server.sql`checkpoint`

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
  const { lastAt } = await receiver.ask<Report>({ do: 'await', count, timeoutMs: TIMEOUT_MS })
  await worker.ask({ do: 'rest' })
  const [cpuAfter, wal] = [cpu(), await server.wal() - walBefore]
  await account.close(count, true)

  const [workerCpu = 0, storeCpu = 0, receiverCpu = 0, gatewayCpu = 0] = cpuAfter.map((s, n) =>
    (s - (cpuBefore[n] ?? 0)) / count * 1e6
  )
  return {
    perSecond: count / (lastAt - begun) * 1000,
    publishMs,
    ...{ workerCpu, storeCpu, receiverCpu, gatewayCpu },
    wal: wal / count,
    peakMb: peakMb(worker.pid),
  }
}
