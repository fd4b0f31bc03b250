/** The cost of every filter is known when it is saved, and no payload exceeds it. */

import { expect } from '@std/expect'
import { type OutboxDatabase, startOutbox } from '../concurrency/_support/database.ts'
import { countValues, evaluate, readCondition } from './_support/filter_work.ts'
import { refused, taken } from './_support/hostile_filters.ts'
import { countReads, longest } from './_support/filter_reads.ts'

let db: OutboxDatabase
Deno.test.beforeAll(async () => {
  db = await startOutbox()
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Payloads of about this many values that are expensive to walk. */
const shapes: [what: string, make: (values: number) => unknown][] = [
  ['numbers', (n) => Array(n).fill(1)],
  ['numbers under a', (n) => ({ a: Array(n).fill(1) })],
  ['lines', (n) => ({ a: Array.from({ length: n / 4 }, () => ({ b: 1, c: 1 })) })],
  ['lines with lists', (n) => ({ a: Array.from({ length: n / 8 }, () => ({ b: [1, 1, 1, 1] })) })],
  ['objects', (n) => Array.from({ length: n / 4 }, () => ({ a: 1, b: 1, c: 1 }))],
  ['lists of lists', (n) => Array.from({ length: n / 8 }, () => [[1], [1], [1]])],
  ['nothing but lists', (n) => Array.from({ length: n }, () => [])],
  ['members', (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 1]))],
  ['long texts', (n) => Array(Math.ceil(n / 100)).fill('x'.repeat(900))],
  ['one deep list', (n) => {
    let deep: unknown = 1
    for (let level = 0; level < Math.min(n, 400); level++) {
      deep = level % 2 === 0 ? [deep] : { a: deep }
    }
    return deep
  }],
]

Deno.test('the table has enough hostile filters', () => {
  expect(taken.length).toBeGreaterThan(50)
  expect(refused.length).toBeGreaterThan(150)
  expect(new Set([...taken, ...refused.map(([filter]) => filter)]).size)
    .toBe(taken.length + refused.length)
})

Deno.test('the error of a rejected filter names the position, the problem and a remedy', async () => {
  for (const [filter, message] of refused) {
    const error = await db.admin`select outbox.read_filter(${filter})`.then(() => null, (e) => e)
    expect([filter.slice(0, 80), error?.code, error?.message.slice(0, message.length + 7)])
      .toEqual([filter.slice(0, 80), 'OH001', `filter ${message}`])
    expect(error.message.length).toBeLessThan(200)
    expect([filter.slice(0, 80), error.hint]).toEqual([
      filter.slice(0, 80),
      expect.stringMatching(/\w{4}/),
    ])
  }
})

Deno.test('an accepted filter costs at most its length plus its weight for each value', async () => {
  let most = 0
  for (const filter of taken) {
    const [row] = await db.admin<{ path: string; weight: number }[]>`
      select (f).path::text as path, (f).weight as weight from outbox.read_filter(${filter}) f`
    if (row === undefined) throw new Error(filter)
    expect([filter, row.weight <= 16]).toEqual([filter, true])
    const condition = readCondition(row.path)
    for (const [what, make] of shapes) {
      for (const size of [0, 100, 1000, 4000]) {
        const payload = make(size)
        const { work } = evaluate(condition, payload)
        const bound = 4 * filter.length + row.weight * countValues(payload)
        expect([filter, what, size, work <= bound]).toEqual([filter, what, size, true])
        most = Math.max(most, work / bound)
      }
    }
  }
  // The bound is no empty promise: some payload comes near it.
  expect(most).toBeGreaterThan(0.9)
})

Deno.test('reading a filter takes at most two calls for each of its characters, whatever it is', async () => {
  const filters = [...taken, ...refused.map(([filter]) => filter), ...longest]
  const reads = await countReads(db.admin, filters)
  for (const [n, { calls, scans }] of reads.entries()) {
    const filter = filters[n] ?? ''
    const bound = Math.min(2 * filter.length, 2_000) + 10
    const most = filter.length > 1_000 ? 0 : 1
    expect([filter.slice(0, 80), calls <= bound, scans]).toEqual([filter.slice(0, 80), true, most])
  }
  // The calls are counted: each of these 250 conditions has a handful.
  const [dense] = await countReads(db.admin, [`$${'||$'.repeat(249)}`])
  expect(dense?.calls).toBeGreaterThan(750)
})

Deno.test('Postgres gives the same result as the evaluator that counts the work', async () => {
  const payloads = shapes.flatMap(([, make]) => [make(0), make(8), make(100)])
  const texts = payloads.map((payload) => JSON.stringify(payload))
  for (const filter of taken) {
    const [row] = await db.admin<{ path: string; found: boolean[] }[]>`
      select (f).path::text as path, array(
        select coalesce(jsonb_path_match(p.body::jsonb, (f).path, '{}', true), false)
        from unnest(${texts}::text[]) with ordinality as p (body, n) order by p.n) as found
      from outbox.read_filter(${filter}) f`
    if (row === undefined) throw new Error(filter)
    const condition = readCondition(row.path)
    const counted = payloads.map((payload) => evaluate(condition, payload).passes)
    expect([filter, ...row.found]).toEqual([filter, ...counted])
  }
})

Deno.test('a filter is shown as it was written, so that it can be saved again', async () => {
  for (const filter of taken) {
    const [made] = await db.admin<{ id: string }[]>`
      select outbox.create_endpoint('https://example.com/', '{a}', p_filter => ${filter}) ->> 'id'
        as id`
    const [shown] = await db.admin<{ filter: string }[]>`
      select outbox.endpoint_json(e) ->> 'filter' as filter from outbox.endpoint e
      where e.id = ${made?.id ?? ''}`
    expect(shown?.filter).toBe(filter)
  }
})
