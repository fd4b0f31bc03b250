/** The checker of the simulated days, with the figures of real runs: of the last one, and of runs without upkeep. */

import { expect } from '@std/expect'
import { checkDays } from '../soak/days/checker.ts'
import type { DayFigures } from '../soak/days/figures.ts'
import { readKept } from '../soak/days/kept.ts'
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
