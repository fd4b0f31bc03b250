/** The list of dead letters: of a group, of a span, and what is done with all rows of a page. */

import { expect } from '@std/expect'
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

/** How many dead letters of the organisation wait. */
async function waiting(org: string): Promise<number> {
  const [row] = await console_.outhook.sql`
    select count(*)::integer as n from outbox.dead_letter
    where org_id = ${org} and replayed_at is null and discarded_at is null`
  return row?.n
}

/** Dead letters of one endpoint, whose id it gives. */
async function makeLetters(org: string, n: number): Promise<string> {
  const { outhook } = console_
  receivers.areRepaired = false
  const { id } = await outhook.createEndpoint(`/repaired/${org}`, {
    ...{ p_event_types: ['*'], p_org_id: org },
  })
  await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => ${org})
    from generate_series(1, ${n}::int)`
  const areAll = async (): Promise<boolean> => await waiting(org) === n
  expect(await waitUntil(areAll, { timeoutMs: patienceMs })).toBe(true)
  receivers.areRepaired = true
  return id
}

Deno.test('the list of a group has its error alone, and r replays all rows that are ticked', async () => {
  const org = 'listed'
  await makeLetters(org, 15)
  await console_.outhook.admin`
    update outbox.dead_letter x set error = case when o.n <= 3 then 'timeout' else 'HTTP 404' end
    from (
      select d.id, row_number() over (order by d.id) as n from outbox.dead_letter d
      where d.org_id = ${org}) o
    where x.id = o.id`
  const { page, errors, close } = await console_.open(`/dead-letters?view=groups&org=${org}`)
  const group = page.getByRole('row').filter({ hasText: 'HTTP 404' })
  await group.getByRole('link', { name: 'All of the group' }).click()
  await page.getByText('12 rows, all').waitFor()
  await page.getByText('Only with the error').waitFor()
  await page.getByRole('checkbox', { name: 'Select all 12 that are shown' }).check()
  await page.getByText('12 dead letters selected').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Replay 12 dead letters?' }).waitFor()
  await dialog.getByText('to 1 endpoint.').waitFor()
  expect(await waiting(org)).toBe(15)
  await dialog.getByRole('button', { name: 'Replay them' }).click()
  await page.getByText('There is no dead letter here').waitFor()
  expect(await waiting(org)).toBe(3)
  await page.getByRole('button', { name: 'Show all errors' }).click()
  await page.getByText('3 rows, all').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('a span between two times limits the list, and the replay of an endpoint', async () => {
  const org = 'span'
  const id = await makeLetters(org, 5)
  // Two failed between 14:00 and 15:00 of a day, in the zone of the browser.
  await console_.outhook.admin`
    update outbox.dead_letter x
    set failed_at = timestamptz '2026-01-15 14:30:00 Europe/Berlin' where x.id in (
      select o.id from outbox.dead_letter o where o.org_id = ${org} limit 2)`
  const { page, errors, close } = await console_.open(`/dead-letters?org=${org}`)
  await page.getByText('5 rows, all').waitFor()
  await page.getByLabel('Failed', { exact: true }).selectOption('Between two times')
  await page.getByLabel('From', { exact: true }).fill('2026-01-15T14:00')
  await page.getByLabel('Until', { exact: true }).fill('2026-01-15T13:00')
  await page.getByText('The first time is not before the second.').waitFor()
  await page.getByLabel('Until', { exact: true }).fill('2026-01-15T15:00')
  await page.getByText('2 rows, all').waitFor()
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('from')).toBe('2026-01-15T13:00:00.000Z')
  expect(searchParams.get('to')).toBe('2026-01-15T14:00:00.000Z')
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Replay 2 dead letters?' }).waitFor()
  await page.keyboard.press('Escape')

  await page.goto(`${console_.running.url}/endpoints/${id}?org=${org}`)
  await page.getByRole('button', { name: 'Replay a span' }).click()
  await dialog.getByLabel('From').fill('2026-01-15T14:00')
  await dialog.getByLabel(/^Until/).fill('2026-01-15T15:00')
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Show how many' }).click()
  await dialog.getByRole('heading', { name: 'Replay 2 dead letters?' }).waitFor()
  await dialog.getByRole('button', { name: 'Start the job' }).click()
  await page.getByText('It is done: 2 were sent again.').waitFor({ timeout: patienceMs })
  expect(await waiting(org)).toBe(3)
  expect(errors).toEqual([])
  await close()
})

Deno.test('an endpoint is created in the console, with its secret, and each error at its field', async () => {
  const org = 'new-endpoint'
  const { outhook } = console_
  const { page, errors, close } = await console_.open(`/endpoints?org=${org}`)
  await page.getByRole('button', { name: 'New endpoint' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('example')
  await dialog.getByRole('button', { name: 'Create endpoint' }).click()
  await dialog.getByText('Expected a URL such as https://example.com/webhooks.').waitFor()
  await dialog.getByLabel('URL').fill(`${outhook.receiver.url}/created`)
  await dialog.getByRole('button', { name: 'Create endpoint' }).click()
  await dialog.getByText('Expected at least one type; * is all.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByLabel('Event types').fill('order.*')
  await dialog.getByLabel('Filter').fill('$.total > 100')
  await dialog.getByRole('button', { name: 'Create endpoint' }).click()
  const secret = await dialog.getByText(/^whsec_/).innerText()
  const [row] = await outhook.sql`
    select e.id, e.url from outbox.endpoint e where e.org_id = ${org}`
  expect(row?.url).toBe(`${outhook.receiver.url}/created`)
  await dialog.getByRole('link', { name: 'Open the endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: /\/created$/ }).waitFor()
  expect(await page.getByText(secret).count()).toBe(0)
  // Paused, it holds what comes, and the dialog said how many wait.
  await outhook.sql`select outbox.pause_endpoint(${row?.id})`
  await outhook.sql`
    select outbox.publish('order.paid', '{"total": 500}', p_org_id => ${org})
    from generate_series(1, 3)`
  const wait = async (): Promise<boolean> => {
    const [open] = await outhook.sql`
      select count(*) = 3 as done from outbox.delivery_status where endpoint_id = ${row?.id}`
    return open?.done
  }
  expect(await waitUntil(wait, { timeoutMs: patienceMs })).toBe(true)
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByLabel('The old secret ends').selectOption('0')
  await dialog.getByText('3 deliveries wait at the moment.').waitFor()
  expect(errors).toEqual([])
  await close()
})
