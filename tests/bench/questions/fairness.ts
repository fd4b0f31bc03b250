/** Does one endpoint that hangs delay the others? The same load with it and without it, in turns. */

import { attempt, enter, leave } from '../run/enter.ts'
import type { Bench } from '../run/bench.ts'
import { saturate } from '../run/saturate.ts'
import { median, percentile } from '../run/stats.ts'
import { steady } from '../run/steady.ts'
import { hangingBacklog } from '../setup/hang.ts'
import { pickSides } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'
import { empty } from './sustained.ts'

const ENDPOINTS = 10
const BACKLOG = 2_000
const SHARE = 0.5

export const fairness: Question = {
  name: 'fairness',
  title: 'Beside an endpoint that hangs',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const behind = plan.quick ? 50_000 : 1_000_000
  const rounds = plan.rounds ?? (plan.quick ? 1 : 5)
  const seconds = plan.quick ? 3 : 8
  const problems: string[] = []
  const [spec] = pickSides(plan.sides, ['outhook direct'])
  const rows: Row[] = []
  if (spec !== undefined) {
    const waits = { with: [] as number[][], without: [] as number[][] }
    const options = { endpoints: ENDPOINTS, hasPublisher: true }
    const contestants = await enter(bench, [spec], options, problems)
    const [{ worker, publisher } = { worker: null, publisher: null }] = contestants
    if (worker !== null && publisher !== null) {
      await attempt(bench, problems, async () => {
        const most = await saturate(bench, {
          ...{ spec, publisher, backlog: BACKLOG, loaded: 0, seconds: Math.min(5, seconds) },
          workers: [worker],
        })
        await empty(bench, worker)
        const hanging = await hangingBacklog(bench, behind)
        await worker.ask({ do: 'work' })
        const load = { ...{ spec, worker, publisher, seconds }, rate: most * SHARE }
        for (let round = 0; round <= rounds; round++) {
          for (const which of ['without', 'with'] as const) {
            if (which === 'with') await hanging.resume()
            else await hanging.pause()
            const times = await steady(bench, { ...load, isUnbalanced: true })
            const hung = await hanging.hung()
            if ((hung > 0) !== (which === 'with')) throw new Error(`${hung} hung ${which} it`)
            // Round 0 warms up.
            if (round === 0) continue
            waits[which].push(times)
            bench.log(
              `round ${round}/${rounds}  ${which} it: p99 ${percentile(times, 99).toFixed(1)} ms`,
            )
          }
        }
        await hanging.pause()
        await worker.ask({ do: 'rest' })
      })
    }
    await leave(contestants)
    for (const [which, all] of Object.entries(waits)) {
      const of = (percent: number): number => median(all.map((times) => percentile(times, percent)))
      rows.push({ series: `${which} it`, values: { p50: of(50), p95: of(95), p99: of(99) } })
    }
  }
  return {
    note:
      `Outhook direct at half of its own maximum to ${ENDPOINTS} endpoints that answer, and one ` +
      `that never does, with ${behind} deliveries behind it; ${rounds} alternating rounds of ` +
      `${seconds} s, commit to arrival at the others in ms`,
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
