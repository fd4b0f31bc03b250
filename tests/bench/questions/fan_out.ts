/** One event to ever more endpoints: how fast, and at what cost to the one who publishes it? */

import type { Report } from '../receiver.ts'
import { openAccount } from '../run/account.ts'
import type { Bench } from '../run/bench.ts'
import type { Child } from '../run/child.ts'
import { drain } from '../run/drain.ts'
import { attempt } from '../run/enter.ts'
import { median } from '../run/stats.ts'
import { besides, pickSides, quickPair, type SideSpec } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'
import { short } from './growth.ts'

/** So often one event is published by itself, and its last arrival waited for. */
const SINGLES = 5
const ARRIVAL_MS = 30_000

export const fanOut: Question = {
  name: 'fanout',
  title: 'One event to many endpoints',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const deliveries = plan.events ?? (plan.quick ? 4_000 : 20_000)
  const fans = plan.quick ? [1_000] : [1, 10, 100, 1_000]
  const problems: string[] = []
  const rows: Row[] = []
  for (const spec of pickSides(plan.sides, plan.quick ? quickPair : besides)) {
    for (const fan of fans) {
      const values = await attempt(bench, problems, () => measure(bench, spec, fan, deliveries))
      if (values === undefined) continue
      rows.push({ series: spec.name, at: short(fan), values })
      bench.log(
        `${spec.name.padEnd(20)} ${short(fan).padEnd(4)} ${values.perSecond.toFixed(0)}/s, ` +
          `the last after ${values.lastMs.toFixed(0)} ms`,
      )
    }
  }
  return {
    note:
      `deliveries/s: ${deliveries} deliveries from as few events as possible, published before in ` +
      'transactions of at most 500 deliveries. graphile-worker has no subscribers, so its publisher ' +
      `adds a job for each endpoint. Last arrival: ${SINGLES} single events to an idle worker; the ` +
      'time from the return of the commit to the last arrival (median)',
    columns: [
      { key: 'perSecond', label: 'deliveries/s', digits: 0 },
      { key: 'publishMs', label: 'ms to publish an event', digits: 2 },
      { key: 'lastMs', label: 'last arrival ms', digits: 1 },
    ],
    rows,
    chart: 'perSecond',
    problems,
  }
}

async function measure(
  bench: Bench,
  spec: SideSpec,
  fan: number,
  deliveries: number,
): Promise<{ perSecond: number; publishMs: number; lastMs: number }> {
  await bench.prepare(spec, fan, { isFan: true })
  const worker = await bench.start(spec, 'worker', fan, { isFan: true })
  try {
    const events = Math.max(1, Math.round(deliveries / fan))
    // Warms up.
    await drain(bench, spec, worker, Math.ceil(events / 10), fan)
    const { perSecond, publishMs } = await drain(bench, spec, worker, events, fan)
    return { perSecond, publishMs, lastMs: median(await singles(bench, spec, worker, fan)) }
  } finally {
    await worker.end()
  }
}

/** From the return of an event's commit to its last arrival, in ms, for each of some events. */
async function singles(
  { receiver, turn }: Bench,
  spec: SideSpec,
  worker: Child,
  fan: number,
): Promise<number[]> {
  await turn(spec)
  const account = await openAccount(spec.name, receiver, [worker])
  await receiver.ask({ do: 'reset', size: SINGLES, fan })
  await worker.ask({ do: 'work' })
  const times: number[] = []
  for (let n = 0; n < SINGLES; n++) {
    const feed = { do: 'feed', from: n, rate: 1, seconds: 1, tickMs: 1 }
    const { commits: [commit] } = await worker.ask<{ commits: [number, number, number][] }>(feed)
    const { lastAt } = await receiver.ask<Report>({
      ...{ do: 'await', count: (n + 1) * fan, timeoutMs: ARRIVAL_MS },
    })
    times.push(Math.max(0, lastAt - (commit?.[2] ?? NaN)))
  }
  await worker.ask({ do: 'rest' })
  await account.close(SINGLES * fan, true)
  return times
}
