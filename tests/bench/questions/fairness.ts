/** Does one endpoint that hangs delay the others? The same load with it and without it, in turns. */

import { attempt, type Contestant, enter, leave } from '../run/enter.ts'
import type { Bench } from '../run/bench.ts'
import { saturate } from '../run/saturate.ts'
import { median, percentile } from '../run/stats.ts'
import { steady } from '../run/steady.ts'
import { type Hanging, hangingEndpoint, hangingJobs } from '../setup/hang.ts'
import { pickSides } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'
import { short } from './growth.ts'
import { empty } from './sustained.ts'

const ENDPOINTS = 10
const BACKLOG = 2_000
const SHARE = 0.5
/** More than graphile-worker has slots: each waits for its timeout. */
const HANGING_JOBS = 200

export const fairness: Question = {
  name: 'fairness',
  title: 'With an endpoint that hangs',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const behind = plan.quick ? 50_000 : 1_000_000
  const seconds = plan.quick ? 3 : 8
  const problems: string[] = []
  const rows: Row[] = []
  const names = plan.quick ? ['outhook direct'] : ['outhook direct', 'graphile deno']
  for (const spec of pickSides(plan.sides, names)) {
    const isOurs = spec.source === 'outhook'
    // Each of a peer's rounds takes as long as its timeouts; one shows what there is to see.
    const rounds = plan.quick || !isOurs ? 1 : plan.rounds ?? 5
    const options = { endpoints: ENDPOINTS, hasPublisher: true }
    const [contestant] = await enter(bench, [spec], options, problems)
    if (contestant === undefined) continue
    const more = await attempt(
      bench,
      problems,
      () =>
        measure(
          bench,
          contestant,
          rounds,
          seconds,
          () =>
            isOurs
              ? hangingEndpoint(bench, behind)
              : Promise.resolve(hangingJobs(bench, spec, HANGING_JOBS)),
        ),
    )
    rows.push(...more ?? [])
    await leave([contestant])
  }
  return {
    note:
      `The load is half of each side's own maximum, to ${ENDPOINTS} endpoints that respond. One more ` +
      `endpoint never responds. Its backlog is ${
        short(behind)
      } deliveries for Outhook (5 alternating ` +
      `rounds of ${seconds} s in a full run; in each, the endpoint is new to Outhook) and ` +
      `${HANGING_JOBS} for graphile-worker (one round). The time is from commit to arrival at the ` +
      'other endpoints',
    columns: [
      { key: 'p50', label: 'p50 ms', digits: 1 },
      { key: 'p95', label: 'p95 ms', digits: 1 },
      { key: 'p99', label: 'p99 ms', digits: 1 },
    ],
    rows,
    chart: 'p99',
    problems,
  }
}

async function measure(
  bench: Bench,
  { spec, worker, publisher }: Contestant,
  rounds: number,
  seconds: number,
  makeHang: () => Promise<Hanging>,
): Promise<Row[]> {
  if (publisher === null) return []
  const most = await saturate(bench, {
    ...{ spec, publisher, backlog: BACKLOG, loaded: 0, seconds: Math.min(5, seconds) },
    workers: [worker],
  })
  await empty(bench, worker)
  const hanging = await makeHang()
  await worker.ask({ do: 'work' })
  const load = { ...{ spec, worker, publisher, seconds }, rate: most * SHARE, isUnbalanced: true }
  // Warms up.
  await steady(bench, load)
  const waits = { without: [] as number[][], with: [] as number[][] }
  for (let round = 1; round <= rounds; round++) {
    for (const which of ['without', 'with'] as const) {
      if (which === 'with') await hanging.resume()
      else await hanging.pause()
      const times = await steady(bench, { ...load, mustHang: which === 'with' })
      waits[which].push(times)
      const p99 = percentile(times, 99).toFixed(1)
      bench.log(`round ${round}/${rounds}  ${spec.name} ${which} it: p99 ${p99} ms`)
    }
  }
  await hanging.pause()
  await worker.ask({ do: 'rest' })
  await hanging.end()
  return Object.entries(waits).map(([which, all]) => {
    const of = (percent: number): number => median(all.map((times) => percentile(times, percent)))
    return {
      series: `${spec.name.split(' ')[0]} ${which} it`,
      values: { p50: of(50), p95: of(95), p99: of(99) },
    }
  })
}
