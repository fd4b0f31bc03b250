/** An event with more deliveries than the API returns, in a real browser against a real stack. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { startConsole, type TestConsole } from './_support/console.ts'

let console_: TestConsole

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

/** More than the API returns of one event. */
const many = 1_020

/** Of a page that is looked at: twenty cards or more share four requests a second, and the event is read again. */
const mostASecond = 8

Deno.test('an event with more than 1,000 deliveries stays usable, with few requests a second', async () => {
  const { outhook } = console_
  const org = 'thousand'
  await outhook.sql`
    select outbox.set_org_setting(${org}, 'limit.endpoints', to_jsonb(${many}::int))`
  await outhook.sql`
    select outbox.pause_endpoint((outbox.create_endpoint(
      ${outhook.receiver.url}::text || '/thousand/' || n, '{thousand.*}', p_org_id => ${org},
      p_description => 'Shop ' || n) ->> 'id')::uuid)
    from generate_series(1, ${many}::int) n`
  const [event] = await outhook.sql`
    select outbox.publish('thousand.made', '{}', p_org_id => ${org}) as id`
  const keys = async (): Promise<string[]> => {
    const rows = await outhook.sql`
      select d.event_id || '.' || d.endpoint_id as key from outbox.delivery_status d
      where d.event_id = ${event?.id}`
    return rows.map(({ key }) => key)
  }
  expect(await waitUntil(async () => (await keys()).length === many, { timeoutMs: patienceMs }))
    .toBe(true)
  const { page, errors, close } = await console_.open(`/events?org=${org}`)
  const read = page.waitForResponse((one) => one.url().endsWith(`/events/${event?.id}`))
  await page.getByRole('link', { name: 'thousand.made' }).click()
  const shown: { deliveries: { id: string }[] } = await (await read).json()
  expect(shown.deliveries.length).toBe(1000)
  await page.getByRole('heading', { name: 'The first 1,000 deliveries' }).waitFor()
  const cards = page.getByRole('article')
  const requestsASecond = async (): Promise<number> => {
    let requests = 0
    const count = (): void => void requests++
    page.on('request', count)
    await new Promise((resolve) => setTimeout(resolve, 8000))
    page.off('request', count)
    return requests / 8
  }
  await page.getByText('980 more', { exact: true }).waitFor()
  expect(await cards.count()).toBe(20)
  // After those of the start.
  await page.waitForLoadState('networkidle')
  expect(await requestsASecond()).toBeLessThanOrEqual(mostASecond)
  for (let n = 40; n <= 120; n += 20) {
    await page.getByRole('button', { name: 'Show 20 more' }).click()
    await cards.nth(n - 1).waitFor()
  }
  await page.waitForLoadState('networkidle')
  expect(await requestsASecond()).toBeLessThanOrEqual(mostASecond)
  // A delivery that is not among those is the first, if the address names it.
  const ids = new Set(shown.deliveries.map(({ id }) => id))
  const other = (await keys()).find((id) => !ids.has(id)) ?? ''
  await page.goto(`${console_.running.url}/events/${event?.id}?org=${org}&delivery=${other}`)
  const [endpoint] = await outhook.sql`
    select e.url from outbox.endpoint e where e.id = ${other.split('.')[1] ?? ''}::text::uuid`
  await cards.first().getByText(new URL(endpoint?.url).pathname).waitFor()
  expect(errors).toEqual([])
  await close()
})
