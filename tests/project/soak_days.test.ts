/** The checker of the simulated days, with the figures of real runs: of the last one, and of runs without upkeep. */

import { expect } from '@std/expect'
import { checkDays } from '../soak/days/checker.ts'
import type { DayFigures } from '../soak/days/figures.ts'
import { readKept } from '../soak/days/kept.ts'
import { tellPace } from '../soak/days/report.ts'
import { docs } from './_docs.ts'
import { soakDaysTables } from './_soak_days.ts'

/** What the flatness of a table does not depend on. */
const unbounded = { dead: 0, partitions: 0, rows: 0, stored_days: null }

/** What the checker says of the last run if its last day is changed. */
async function changed(change: (day: DayFigures) => void): Promise<string[]> {
  const { days, perDay } = await readKept(null)
  const last = days.at(-1)
  if (last === undefined) throw new Error('no days')
  change(last)
  return checkDays(days, perDay)
}

Deno.test('the last run left nothing behind', async () => {
  const { days, perDay } = await readKept(null)
  expect(days.length).toBe(14)
  expect(checkDays(days, perDay)).toEqual([])
})

Deno.test('days without a cleanup are noticed by its steps, the sizes and the partitions', async () => {
  const { days, perDay } = await readKept('cleanup')
  const found = checkDays(days, perDay).join('\n')
  expect(found).toMatch(/day 14: the cleanup is behind: .*idempotency_keys/)
  expect(found).toMatch(/the heap of attempt grew/)
  expect(found).toMatch(/the heap of event grew/)
  expect(found).toMatch(/attempt had 1\d to 2\d partitions/)
})

Deno.test('days without vacuum are noticed by dead rows and sizes', async () => {
  const { days, perDay } = await readKept('vacuum')
  const found = checkDays(days, perDay).join('\n')
  expect(found).toMatch(/day 14: delivery has \d+ dead rows/)
  expect(found).toMatch(/the (heap|indexes) of (delivery|unrouted|counter_change) grew/)
})

Deno.test('a table that grows after day 8 is noticed, by its jump or by its steadiness, and a flat one is not', async () => {
  const MB = 1024 * 1024
  /** The findings on 14 days of which one table has these sizes, in MB, from day 8 on. */
  const findingsOn = async (
    part: 'heap' | 'indexes',
    sizes: readonly number[],
  ): Promise<string[]> => {
    const { days, perDay } = await readKept(null)
    for (const { day, tables } of days) {
      const size = { ...unbounded, heap: 100 * MB, indexes: 100 * MB }
      tables.event = { ...size, partitions: 8, [part]: (sizes[day - 8] ?? 100) * MB }
    }
    return checkDays(days, perDay)
  }
  const cases: [readonly number[], RegExp | null][] = [
    [[100, 100, 100, 100, 100, 100, 100], null],
    [[100, 104, 99, 110, 103, 98, 107], null],
    [[100, 100, 100, 127, 100, 100, 100], /event grew from 104857600 to 133169152 bytes/],
    [[100, 104, 108, 112, 116, 120, 124], /event grew each day, from 104857600 to 130023424 bytes/],
    [[100, 101, 102, 103, 104, 105, 106], /event grew each day, from 104857600 to 111149056 bytes/],
  ]
  for (const part of ['heap', 'indexes'] as const) {
    for (const [sizes, message] of cases) {
      expect([sizes, await findingsOn(part, sizes)])
        .toEqual([sizes, message === null ? [] : [expect.stringMatching(message)]])
    }
  }
})

Deno.test('a table whose rows are stored for longer than the run may have as many more each day, and no larger ones', async () => {
  const findingsOn = async (
    sizeOn: (day: number) => { rows: number; bytes: number; stored_days?: number },
  ): Promise<string[]> => {
    const run = await readKept(null)
    for (const { day, tables } of run.days) {
      const { rows, bytes, stored_days = 400 } = sizeOn(day)
      const half = bytes / 2
      tables.audit_event = { heap: half, indexes: half, dead: 0, partitions: 0, rows, stored_days }
    }
    return checkDays(run.days, run.perDay)
  }
  expect(await findingsOn((day) => ({ rows: 5_000 * day, bytes: 5_000 * day * 1_000 }))).toEqual([])
  expect(await findingsOn((day) => ({ rows: 500 * day * day, bytes: 500 * day * day * 1_000 })))
    .toEqual([
      'audit_event has 60500 rows on day 11, and had at most 4000 for each day before',
      'audit_event has 72000 rows on day 12, and had at most 4000 for each day before',
      'audit_event has 84500 rows on day 13, and had at most 4000 for each day before',
      'audit_event has 98000 rows on day 14, and had at most 4000 for each day before',
    ])
  expect(await findingsOn((day) => ({ rows: 5_000 * day, bytes: day === 14 ? 150e6 : 5e6 * day })))
    .toEqual(['audit_event has 150000000 bytes for 70000 rows on day 14'])
  // If its rows were to be deleted within the run, the same growth is a fault.
  expect(await findingsOn((day) => ({ rows: 5_000 * day, bytes: 5e6 * day, stored_days: 13 })))
    .toEqual([
      'the heap of audit_event grew from 20000000 to 35000000 bytes',
      'the indexes of audit_event grew from 20000000 to 35000000 bytes',
    ])
})

Deno.test('the indexes of lanes may stay as large as an outage of the first week made them, and may not grow in the next one', async () => {
  const MB = 1024 * 1024
  /** The findings if an outage on days 3 and 10 leaves indexes of these sizes, in MB. */
  const findingsOn = async (first: number, second: number, lanes = 4_500): Promise<string[]> => {
    const { days, perDay } = await readKept(null)
    for (const each of days) {
      const size = each.day < 3 ? 1 : each.day < 10 ? first : second
      each.most_lanes = each.day % 7 === 3 ? lanes : 100
      each.tables.lane = { ...unbounded, heap: 0, indexes: size * MB }
    }
    return checkDays(days, perDay)
  }
  expect(await findingsOn(3, 3)).toEqual([])
  // Its pages were not used again.
  expect(await findingsOn(3, 4.5)).toEqual([
    'the indexes of lane grew from 3145728 to 4718592 bytes',
  ])
  // As large in both weeks, but for far fewer lanes.
  expect((await findingsOn(3, 3, 600))[0])
    .toBe('the indexes of lane have 3145728 bytes on day 3, for at most 600 lanes at once')
})

Deno.test('a table that is small on day 8 alone may have its former size again, and not more', async () => {
  const MB = 1024 * 1024
  const findingsOn = async (last: number): Promise<string[]> => {
    const { days, perDay } = await readKept(null)
    for (const { day, tables } of days) {
      const heap = day === 8 ? 0 : day === 14 ? last : 2 * MB
      tables.gate = { ...unbounded, heap, indexes: MB }
    }
    return checkDays(days, perDay)
  }
  expect(await findingsOn(2 * MB)).toEqual([])
  expect(await findingsOn(4 * MB))
    .toEqual(['the heap of gate grew from 2097152 to 4194304 bytes'])
})

Deno.test('the heap of delivery may have the pages of one step at night, on any day, and not more', async () => {
  const findingsOn = async (heap: number): Promise<string[]> =>
    await changed(({ tables }) => tables.delivery = { ...unbounded, heap, indexes: 20_000_000 })
  expect(await findingsOn(2_190_000)).toEqual([])
  expect(await findingsOn(2_192_000))
    .toEqual(['the heap of delivery has 2192000 bytes on day 14'])
})

Deno.test('the pace of a run has its scale, days, deliveries and time', () => {
  expect(tellPace({ scale: 1000, days: 14, accepted: 1_400_000, wall_s: 400 }))
    .toBe('scale 1/1000, day 14: 1400000 deliveries in 400 s, 3500/s')
})

Deno.test('each thing that a night leaves behind is noticed', async () => {
  const cases: [RegExp, (day: DayFigures) => void][] = [
    [/1 events are not routed/, ({ behind }) => behind.unrouted = 1],
    [/due for 61 s/, ({ behind }) => behind.overdue_s = 61],
    [/cleanup is behind: lanes/, ({ behind }) => behind.cleanup = ['lanes']],
    [/left to drop/, ({ behind }) => behind.partitions = ['old partitions are left to drop']],
    [/for 6 days only/, ({ behind }) => behind.days_ahead = 6],
    [/2 rows are in default/, ({ behind }) => behind.in_default = 2],
    [/refused/, ({ behind }) => behind.refused = ['a row was refused']],
    [/not added up/, ({ behind }) => behind.unfolded = 20_001],
    [/1 of \d+ retries are off/, ({ retries }) => retries.off = 1],
    [/1 of \d+ retries are early/, ({ retries }) => retries.early = 1],
    [/1 of \d+ retries are late/, ({ retries }) => retries.late = 1],
    [/no retry was checked/, ({ retries }) => retries.checked = 0],
    [/1 deliveries are missing/, ({ ledger }) => ledger.due += 1],
    [/are counted as delivered/, (day) => day.counted -= 1],
    [/depth 1/, ({ miscounted }) => miscounted.push('lane 1: depth 1, counted 0')],
  ]
  for (const [message, change] of cases) {
    expect(await changed(change)).toEqual([expect.stringMatching(message)])
  }
})

Deno.test('the page on reliability has the figures of the last run', async () => {
  const plain = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{2,}/g, '--')
  const page = plain(docs.get('docs/reliability.md') ?? '')
  const [sentence, table] = await soakDaysTables()
  for (const line of [sentence, ...table.split('\n')]) expect(page).toContain(plain(line))
})
