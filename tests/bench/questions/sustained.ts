/** How many a second, while others publish, for as long as is asked? The two that matter most, in turns. */

import type { Bench } from '../run/bench.ts'
import { openAccount } from '../run/account.ts'
import type { Child } from '../run/child.ts'
import { attempt, enter, leave } from '../run/enter.ts'
import { saturate } from '../run/saturate.ts'
import { median } from '../run/stats.ts'
import type { Stored } from '../sides/_protocol.ts'
import { besides, pickSides } from '../sides/catalog.ts'
import type { Answer, Plan, Question } from './_question.ts'

const BACKLOG = 5_000
const ENDPOINTS = 10

export const sustained: Question = {
  name: 'sustained',
  isLong: true,
  title: 'Sustained while another process publishes',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const seconds = plan.seconds ?? (plan.quick ? 4 : 15)
  const rounds = plan.rounds ?? (plan.quick ? 1 : 3)
  const problems: string[] = []
  const specs = pickSides(plan.sides, besides)
  const options = { endpoints: ENDPOINTS, hasPublisher: true }
  const contestants = await enter(bench, specs, options, problems)
  const rates = new Map<string, number[]>()
  for (let round = 1; round <= rounds; round++) {
    for (const { spec, worker, publisher } of contestants) {
      if (publisher === null) continue
      const rate = await attempt(bench, problems, () =>
        saturate(bench, {
          ...{ spec, publisher, seconds, backlog: BACKLOG, loaded: 0 },
          workers: [worker],
        }))
      // What was not reached is still in the store, and would be in the next round's way.
      if (!await attempt(bench, problems, () => empty(bench, worker))) continue
      if (rate === undefined) continue
      rates.set(spec.name, [...rates.get(spec.name) ?? [], rate])
      bench.log(`round ${round}/${rounds}  ${spec.name.padEnd(20)} ${rate.toFixed(0)}/s`)
    }
  }
  await leave(contestants)
  return {
    note: `${seconds} s at saturation, ${rounds} alternating rounds, with at least ${BACKLOG} ` +
      'deliveries waiting. Another process publishes as many as are delivered, 500 in a transaction',
    columns: [{ key: 'perSecond', label: 'deliveries/s', digits: 0 }],
    rows: [...rates].map(([series, all]) => ({ series, values: { perSecond: median(all) } })),
    chart: 'perSecond',
    problems,
  }
}

const EMPTY_MS = 30_000

/** Works off what a saturated round has left, and counts it. */
export async function empty(
  { receiver }: Pick<Bench, 'receiver'>,
  worker: Child,
): Promise<boolean> {
  const { unfinished: left } = await worker.ask<Stored>({ do: 'stored' })
  const account = await openAccount('what was left', receiver, [worker])
  await receiver.ask({ do: 'reset', size: 10_000_000 })
  await worker.ask({ do: 'work' })
  const begun = performance.now()
  for (;;) {
    const { unfinished } = await worker.ask<Stored>({ do: 'stored' })
    if (unfinished === 0 || unfinished === null) break
    if (performance.now() - begun > EMPTY_MS) throw new Error(`${unfinished} are still waiting`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await worker.ask({ do: 'rest' })
  if (left !== null) await account.close(left, true)
  return true
}
