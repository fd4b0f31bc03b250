import { expect } from '@std/expect'
import { headlinesOf, toHeadlines } from '../bench/report/headlines.ts'
import { loadProblem } from '../bench/report/machine.ts'
import type { NamedAnswer } from '../bench/report/results.ts'
import { readPlan } from '../bench/options.ts'

function answerOf(name: string, rows: NamedAnswer['rows']): NamedAnswer {
  return { name, title: name, note: '', columns: [], rows, chart: '', problems: [] }
}

const answers = [
  answerOf('throughput', [
    { series: 'outhook direct', values: { perSecond: 900 } },
    { series: 'outhook node', values: { perSecond: 1_200 } },
    { series: 'graphile node', values: { perSecond: 1_000 } },
    { series: 'bullmq deno everysec', values: { perSecond: 5_000 } },
    { series: 'naive node', values: { perSecond: 1_500 } },
    { series: 'undici node', values: { perSecond: 9_000 } },
  ]),
  answerOf('workers', [
    { series: 'outhook node', at: '1', values: { perSecond: 800 } },
    { series: 'outhook node', at: '8', values: { perSecond: 600 } },
  ]),
  answerOf('latency', [
    { series: 'outhook node', at: '10/s', values: { p50: 4 } },
    { series: 'pg-boss node', at: '10/s', values: { p50: 8 } },
  ]),
  answerOf('fairness', [
    { series: 'outhook without it', values: { p99: 50 } },
    { series: 'outhook with it', values: { p99: 55 } },
    { series: 'graphile with it', values: { p99: 9_000 } },
  ]),
]

Deno.test('headlinesOf() compares the best of both runtimes, and leaves out what was not measured', () => {
  expect(headlinesOf({ answers }).map(({ what, ratio, winner }) => [what, ratio, winner])).toEqual([
    ['deliveries a second, 10 endpoints', 1.2, 'outhook node'],
    ['the same, with a plain table', 0.8, 'naive node'],
    ['8 workers, to 1', 0.75, null],
    ['ms from commit to arrival at 10/s, p50', 2, 'outhook node'],
    ['ms, p99 with an endpoint that hangs', 50 / 55, null],
  ])
})

Deno.test('toHeadlines() names the winner in each line', () => {
  expect(toHeadlines({ answers }).split('\n')[2]).toMatch(
    /^\| deliveries a second, 10 endpoints +\| 1,200 \(outhook node\) +\| 1,000 \(graphile node\) +\| 1\.20 +\| outhook node +\|$/,
  )
})

Deno.test('loadProblem() refuses a load average above the bound, and says how to measure all the same', () => {
  expect(loadProblem(1, 1)).toBe(null)
  expect(loadProblem(6.25, 1)).toBe(
    'The load average of this machine is 6.3, above 1: other programs would change the figures. ' +
      'Wait until it is idle, or measure all the same with --load 7',
  )
})

Deno.test('readPlan() takes a bound of the load, and refuses one that is no number', () => {
  const values = { quick: true, only: [], side: [], load: '2.5' }
  expect(readPlan(values).mostLoad).toBe(2.5)
  expect(() => readPlan({ ...values, load: '' })).toThrow('--load takes a number above 0')
  expect(() => readPlan({ ...values, load: '0' })).toThrow('--load takes a number above 0, not 0')
})

Deno.test('a quick run asks each question that has a headline, of the sides that may win', () => {
  const { plan, asked } = readPlan({ quick: true, only: [], side: [], load: '1' })
  expect(asked.map(({ name }) => name)).toEqual([
    ...[
      'throughput',
      'latency',
      'fairness',
      'publish',
      'fanout',
      'endpoints',
      'workers',
      'waiting',
    ],
  ])
  expect(plan.sides.map(({ name }) => name)).toEqual([
    ...['outhook direct', 'outhook node', 'graphile node', 'pg-boss node', 'bullmq node'],
    'naive node',
  ])
})
