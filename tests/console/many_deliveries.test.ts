/** An event with many deliveries: what its page shows and reads, in a real browser against a real stack. */

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

/** More than are shown at once, and paused, so that each stays open. */
const endpoints = 45

Deno.test('the page of an event shows twenty deliveries, and reads the attempts of these alone', async () => {
  const { outhook } = console_
  const org = 'crowd'
  await outhook.sql`
    select outbox.pause_endpoint((outbox.create_endpoint(
      ${outhook.receiver.url}::text || '/crowd/' || n, '{crowd.*}', p_org_id => ${org}) ->> 'id')::uuid)
    from generate_series(1, ${endpoints}::int) n`
  const [event] = await outhook.sql`
    select outbox.publish('crowd.made', '{}', p_org_id => ${org}) as id`
  const routed = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select count(*) = ${endpoints} as done from outbox.delivery_status
      where event_id = ${event?.id}`
    return row?.done
  }
  expect(await waitUntil(routed, { timeoutMs: patienceMs })).toBe(true)
  const { page, errors, close } = await console_.open(`/events?view=deliveries&org=${org}`)
  let reads = 0
  page.on('request', (request) => {
    if (/\/deliveries\/[^/]+\/attempts/.test(request.url())) reads++
  })
  const row = page.getByRole('row').nth(30)
  // Until the endpoint is read, its id stands there.
  await row.locator('.endpoint-name', { hasNotText: '…' }).waitFor()
  const name = (await row.locator('.endpoint-name').innerText()).trim()
  await row.getByRole('link', { name: 'crowd.made' }).click()
  await page.getByRole('heading', { name: `${endpoints} deliveries` }).waitFor()
  // The delivery of the row is the first.
  await page.getByRole('article').first().getByText(name, { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.has('delivery')).toBe(true)
  expect(await page.getByRole('article').count()).toBe(20)
  await page.getByText('25 more', { exact: true }).waitFor()
  // Five seconds are one reading of each card: two with those of the start.
  await new Promise((resolve) => setTimeout(resolve, 4000))
  expect(reads).toBeGreaterThanOrEqual(20)
  expect(reads).toBeLessThanOrEqual(40)
  await page.getByRole('button', { name: 'Show 20 more' }).click()
  await page.getByText('5 more', { exact: true }).waitFor()
  expect(await page.getByRole('article').count()).toBe(40)
  await page.getByRole('button', { name: 'Show 5 more' }).click()
  await page.getByRole('article').nth(endpoints - 1).waitFor()
  expect(errors).toEqual([])
  await close()
})
