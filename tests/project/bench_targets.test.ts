import { expect } from '@std/expect'
import { toTargets, verdictsOn } from '../bench/report/targets.ts'
import type { NamedAnswer } from '../bench/report/results.ts'

function answerOf(name: string, rows: NamedAnswer['rows']): NamedAnswer {
  return { name, title: name, note: '', columns: [], rows, chart: '', problems: [] }
}

const answers = [
  answerOf('throughput', [
    { series: 'outhook direct', values: { perSecond: 1_100, toUndici: 0.44 } },
    { series: 'outhook rpc', values: { perSecond: 9_000 } },
    { series: 'graphile deno', values: { perSecond: 1_000 } },
    { series: 'graphile node', values: { perSecond: 3_000 } },
    { series: 'pg-boss node', values: { perSecond: 4_000 } },
    { series: 'bullmq node', values: { perSecond: 1_000 } },
  ]),
  answerOf('latency', [
    { series: 'outhook direct', at: '10 %', values: { p50: 5 } },
    { series: 'outhook direct', at: '10/s', values: { p50: 30.1 } },
  ]),
]

Deno.test('verdictsOn() takes the target itself for met, and says what is missed or was not measured', () => {
  expect(verdictsOn({ answers }).map(({ value, verdict }) => [value, verdict])).toEqual([
    ['1.10 ×', 'met'],
    ['0.44 ×', 'missed'],
    ['9,000 a second', 'met'],
    ['2.25 ×', 'missed'],
    ['', 'not measured'],
    ['', 'not measured'],
    ['', 'not measured'],
    ['30.1 ms', 'missed'],
  ])
})

Deno.test('toTargets() has a line for each target', () => {
  const lines = toTargets({ answers }).split('\n')
  expect(lines[4]).toMatch(
    /^\| edge runs by RPC +\| 9,000 a second \| ≥ 9,000 a second \| met +\|$/,
  )
  expect(lines).toHaveLength(10)
})
