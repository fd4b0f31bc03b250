/** Dead letters in groups by their error, and the replay of one group, in a real browser against a real stack. */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { findingsOf } from './_support/axe.ts'
import { startConsole, type TestConsole } from './_support/console.ts'
import { receivers } from './_support/sample.ts'

let console_: TestConsole

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

async function until(condition: () => Promise<boolean>): Promise<void> {
  expect(await waitUntil(condition, { timeoutMs: patienceMs })).toBe(true)
}

/** How many dead letters of the organisation wait, by their error. */
async function waiting(org: string): Promise<Record<string, number>> {
  const rows = await console_.outhook.sql`
    select error, count(*)::integer as n from outbox.dead_letter
    where org_id = ${org} and replayed_at is null and discarded_at is null group by error`
  return Object.fromEntries(rows.map(({ error, n }) => [error, n]))
}

/** Dead letters of one endpoint, so many for each error. */
async function makeLetters(org: string, errors: Record<string, number>): Promise<void> {
  const { outhook } = console_
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/groups', { p_event_types: ['*'], p_org_id: org })
  const all = Object.values(errors).reduce((sum, n) => sum + n)
  await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => ${org})
    from generate_series(1, ${all}::int)`
  await until(async () => Object.values(await waiting(org))[0] === all)
  for (const [error, n] of Object.entries(errors)) {
    await outhook.admin`
      update outbox.dead_letter x set error = ${error} where x.id in (
        select o.id from outbox.dead_letter o where o.org_id = ${org} and not o.error = any(${
      Object.keys(errors)
    }) limit ${n})`
  }
  expect(await waiting(org)).toEqual(errors)
  receivers.areRepaired = true
}

const rowOf = (page: Page, error: string): ReturnType<Page['locator']> =>
  page.getByRole('row').filter({ has: page.getByText(error, { exact: true }) })

Deno.test('replays a group of dead letters by its error, and leaves the others alone', async () => {
  const org = 'group-small'
  await makeLetters(org, { 'HTTP 404': 4, 'HTTP 4040': 3 })
  const { page, errors, close } = await console_.open(`/dead-letters?org=${org}`)
  await page.getByRole('button', { name: 'By error' }).click()
  await rowOf(page, 'HTTP 4040').getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('heading', { name: 'Replay 3 dead letters?' }).waitFor()
  await page.getByText('Only those with the error “HTTP 4040”.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Start the job' }).click()
  await page.getByText('It is done: 3 were sent again.').waitFor()
  expect(await page.getByText('HTTP 4040').count()).toBe(1)
  expect(await waiting(org)).toEqual({ 'HTTP 404': 4 })
  await page.goBack()
  await rowOf(page, 'HTTP 4040').waitFor({ state: 'detached' })
  await rowOf(page, 'HTTP 404').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('the replay of a group goes on without the page, and is cancelled by its number in another one', async () => {
  const org = 'group-large'
  await makeLetters(org, { 'HTTP 503': 200, 'timeout': 5 })
  const first = await console_.open(`/dead-letters?view=groups&org=${org}`)
  await rowOf(first.page, 'HTTP 503').getByRole('button', { name: 'Replay' }).click()
  await first.page.getByRole('heading', { name: 'Replay 200 dead letters?' }).waitFor()
  await first.page.getByLabel(/Replays a second/).fill('1')
  await first.page.getByLabel('Type 200 to confirm').fill('200')
  await first.page.getByRole('button', { name: 'Start the job' }).click()
  await first.page.getByText(/Handled \d+ of 200/).waitFor()
  const address = new URL(first.page.url())
  expect([...address.searchParams.keys()]).toEqual(['org'])
  await first.close()
  const before = (await waiting(org))['HTTP 503'] ?? 0
  await until(async () => ((await waiting(org))['HTTP 503'] ?? 0) < before)
  const { page, errors, close } = await console_.open(`/replays?org=${org}`)
  await page.getByRole('link', { name: /^Job \d+$/ }).click()
  await page.getByText(/Handled (?!0 )\d+ of 200/).waitFor()
  await page.getByRole('button', { name: 'Cancel the job' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^\d+ dead letters that it has not reached stay open\./).waitFor()
  expect(await dialog.getByRole('button', { name: 'Cancel the job' }).isDisabled()).toBe(true)
  await dialog.getByLabel(/^Type \d+ to confirm$/).fill(address.pathname.split('/').at(-1) ?? '')
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel the job' }).click()
  await page.getByText(/It was cancelled: \d+ (was|were) sent again/).waitFor()
  const left = await waiting(org)
  expect(left['timeout']).toBe(5)
  expect(left['HTTP 503']).toBeGreaterThan(0)
  expect([...first.errors, ...errors]).toEqual([])
  await close()
})

Deno.test('a plan whose dead letters were too many to count is not empty, and is confirmed by a word', async () => {
  const org = 'group-old'
  await makeLetters(org, { 'HTTP 404': 2 })
  // An outage after these, whose 20,000 dead letters were replayed.
  await console_.outhook.admin`
    insert into outbox.dead_letter
    select (jsonb_populate_record(x.letter, jsonb_build_object('id', gen_random_uuid(),
      'event_id', gen_random_uuid(),
      'failed_at', (x.letter).failed_at + n * interval '1 microsecond',
      'replayed_at', (x.letter).failed_at + interval '1 second'))).*
    from (select d as letter from outbox.dead_letter d where d.org_id = ${org}
      order by d.failed_at desc limit 1) x, generate_series(1, 20000) n`
  const { page, errors, close } = await console_.open(`/dead-letters?org=${org}`)
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  await page.getByRole('heading', { name: 'Replay dead letters that are not counted?' }).waitFor()
  await page.getByText('The newest 20,000 dead letters were read, and none of them match.')
    .waitFor()
  const start = page.getByRole('button', { name: 'Start the job' })
  expect(await start.isDisabled()).toBe(true)
  await page.getByLabel('Type all to confirm').fill('all')
  await start.click()
  await page.getByText('It is done: 2 were sent again.').waitFor({ timeout: patienceMs })
  expect(await waiting(org)).toEqual({})
  expect(errors).toEqual([])
  await close()
})

Deno.test('a job whose response was lost is not started a second time', async () => {
  const org = 'group-lost'
  await makeLetters(org, { 'HTTP 404': 3 })
  const { page, close } = await console_.open(`/dead-letters?org=${org}`)
  await page.route('**/replay-jobs', async (route) => {
    await route.fetch()
    await route.abort()
  }, { times: 1 })
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  const start = page.getByRole('dialog').getByRole('button', { name: 'Start the job' })
  await start.click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await start.click()
  await page.getByText('It is done: 3 were sent again.').waitFor()
  const [jobs] = await console_.outhook.sql`
    select count(*)::int as n from outbox.replay_job where org_id = ${org}`
  expect(jobs?.n).toBe(1)
  await close()
})
