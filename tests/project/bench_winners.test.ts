import { expect } from '@std/expect'
import { toSummarySvg } from '../bench/report/summary_chart.ts'
import { toTable } from '../bench/report/table.ts'
import type { Row } from '../bench/questions/_question.ts'
import { winnersOf } from '../bench/report/winner.ts'

const throughput = [
  { series: 'outhook direct', values: { perSecond: 900 } },
  { series: 'outhook rpc', values: { perSecond: 800 } },
  { series: 'graphile deno', values: { perSecond: 700 } },
  { series: 'graphile node', values: { perSecond: 1_000 } },
  { series: 'bullmq deno everysec', values: { perSecond: 5_000 } },
  { series: 'undici node', values: { perSecond: 9_000 } },
]

Deno.test('winnersOf() names the fastest durable queue, and neither a bare client nor a queue that may lose events', () => {
  expect(winnersOf({ chart: 'perSecond', columns: [], rows: throughput }).of)
    .toEqual([null, null, null, 'graphile node', null, null])
})

Deno.test('winnersOf() compares the rows of one load, and less is better for times', () => {
  const rows = [
    { series: 'outhook direct', at: '10/s', values: { p95: 8 } },
    { series: 'graphile deno', at: '10/s', values: { p95: 9 } },
    { series: 'outhook direct', at: '50 %', values: { p95: 30 } },
    { series: 'graphile deno', at: '50 %', values: { p95: 20 } },
    { series: 'outhook direct', at: '80 %', values: { p95: 50 } },
    { series: 'graphile deno', at: '80 %', values: { p95: null } },
  ]
  expect(winnersOf({ chart: 'p95', columns: [], rows }).of).toEqual([
    ...['outhook direct', 'outhook direct', 'graphile deno', 'graphile deno'],
    ...[null, null],
  ])
})

Deno.test('winnersOf() compares a system with an endpoint that hangs only with others in the same state', () => {
  const rows = [
    { series: 'outhook without it', values: { p99: 60 } },
    { series: 'outhook with it', values: { p99: 64 } },
    { series: 'graphile without it', values: { p99: 50 } },
    { series: 'graphile with it', values: { p99: 9_000 } },
  ]
  expect(winnersOf({ chart: 'p99', columns: [], rows }).of)
    .toEqual(['graphile', 'outhook', 'graphile', 'outhook'])
})

Deno.test('toTable() ends with the winner of each row, and has no such column without a race', () => {
  const columns = [{ key: 'perSecond', label: 'deliveries/s', digits: 0 }]
  const ours = { series: 'outhook direct', at: '1k', values: { perSecond: 10 } }
  const theirs = { series: 'graphile deno', at: '1k', values: { perSecond: 20 } }
  const textOf = (rows: Row[]): string =>
    toTable({ columns, rows }, winnersOf({ chart: 'perSecond', columns, rows }))
  expect(textOf([ours, theirs]).split('\n')).toEqual([
    '|                |    | deliveries/s | winner by deliveries/s |',
    '| -------------- | -- | -----------: | ---------------------- |',
    '| outhook direct | 1k |           10 | graphile deno          |',
    '| graphile deno  | 1k |           20 | graphile deno          |',
  ])
  expect(textOf([ours])).not.toContain('winner')
})

Deno.test('the chart of the README has one bar for each durable system, the fastest first', () => {
  const svg = toSummarySvg({ rows: throughput })
  expect([...svg.matchAll(/text-anchor="end">([^<]+)</g)].map(([, name]) => name))
    .toEqual(['graphile-worker (Node)', 'Outhook (Deno)'])
  expect(svg).toContain('more is better')
})
