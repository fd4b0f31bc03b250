/** The checker of the simulated days, with the figures of real runs: of the last one, and of runs without upkeep. */

import { expect } from '@std/expect'
import { checkDays } from '../soak/days/checker.ts'
import type { DayFigures } from '../soak/days/figures.ts'
import { readKept } from '../soak/days/kept.ts'
import { tellPace } from '../soak/days/report.ts'
import { docs } from './_docs.ts'
import { soakDaysTables } from './_soak_days.ts'

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
      const size = { heap: 100 * MB, indexes: 100 * MB, dead: 0, partitions: 0 }
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

Deno.test('the audit trail may grow in proportion to the days, and not faster', async () => {
  const MB = 1024 * 1024
  const findingsOn = async (perDay: (day: number) => number): Promise<string[]> => {
    const run = await readKept(null)
    for (const { day, tables } of run.days) {
      tables.audit_event = { heap: perDay(day) * MB, indexes: MB, dead: 0, partitions: 0 }
    }
    return checkDays(run.days, run.perDay)
  }
  expect(await findingsOn((day) => 10 * day)).toEqual([])
  expect(await findingsOn((day) => day * day))
    .toEqual(['the heap of audit_event grew from 67108864 to 205520896 bytes'])
})

Deno.test('a table that is small on day 8 alone may have its former size again, and not more', async () => {
  const MB = 1024 * 1024
  const findingsOn = async (last: number): Promise<string[]> => {
    const { days, perDay } = await readKept(null)
    for (const { day, tables } of days) {
      const heap = day === 8 ? 0 : day === 14 ? last : 2 * MB
      tables.delivery = { heap, indexes: MB, dead: 0, partitions: 0 }
    }
    return checkDays(days, perDay)
  }
  expect(await findingsOn(2 * MB)).toEqual([])
  expect(await findingsOn(4 * MB))
    .toEqual(['the heap of delivery grew from 2097152 to 4194304 bytes'])
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
