/** What an operator does in the console, in a real browser against a real stack. */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { findingsOf } from './_support/axe.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { startConsole, type TestConsole } from './_support/console.ts'
import { receivers } from './_support/sample.ts'

let console_: TestConsole

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

/** Waits until the database says true. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  expect(await waitUntil(condition, { timeoutMs: patienceMs })).toBe(true)
}

async function deadLetters(count: number, org = 'default'): Promise<void> {
  await until(async () => {
    const [row] = await console_.outhook.sql`
      select count(*) = ${count} as done from outbox.dead_letter
      where org_id = ${org} and replayed_at is null and discarded_at is null`
    return row?.done
  })
}

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

Deno.test('finds why a webhook did not arrive, and sends it again', async () => {
  const { outhook } = console_
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/shop', { p_event_types: ['order.*'] })
  const [event] = await outhook.sql`
    select outbox.publish('order.paid', '{"id": 12345678901234567890}', p_correlation_id => 'cart-7') as id`
  await deadLetters(1)
  const { page, errors, close } = await console_.open('/')
  await page.getByText('1 dead letter waits for a decision.').waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', {
    name: 'Events',
    exact: true,
  }).click()
  await page.getByLabel('Search by').selectOption('Correlation id')
  await page.getByLabel('Search', { exact: true }).fill('cart-7')
  await page.getByRole('link', { name: 'order.paid' }).click()
  await heading(page, 'order.paid')
  expect(new URL(page.url()).pathname).toBe(`/events/${event?.id}`)
  const delivery = page.getByRole('article')
  await delivery.getByText('dead letter', { exact: true }).waitFor()
  await delivery.getByText('Attempt 1 failed').waitFor()
  await delivery.getByText('HTTP 404').waitFor()
  await delivery.getByText('Response', { exact: true }).click()
  await delivery.getByText('no route for this webhook').waitFor()
  // The number is shown as it was published.
  await page.getByText('12345678901234567890', { exact: true }).waitFor()
  receivers.areRepaired = true
  await delivery.getByRole('button', { name: 'Send again' }).click()
  await delivery.getByText('Attempt 2 was delivered').waitFor()
  await delivery.getByText('delivered', { exact: true }).waitFor()
  expect(errors).toEqual([])
  await close()
})

/** As many as there are after an hour of an outage. */
const letters = 5_000

Deno.test('replays many dead letters with a progress bar, also if the page is closed', async () => {
  const { outhook } = console_
  const shown = letters.toLocaleString('en')
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/many', {
    p_event_types: ['bulk.*'],
    p_org_id: 'bulk',
  })
  await outhook.sql`
    select outbox.publish('bulk.made', '{}', p_org_id => 'bulk') from generate_series(1, ${letters}::int)`
  await deadLetters(letters, 'bulk')
  receivers.areRepaired = true
  const before = outhook.receiver.received.length
  const { page, errors, close } = await console_.open('/dead-letters?org=bulk')
  await page.getByRole('button', { name: 'Replay all that match' }).click()
  await page.getByRole('heading', { name: `Replay ${shown} dead letters?` }).waitFor()
  const start = page.getByRole('button', { name: 'Start the job' })
  expect(await start.isDisabled()).toBe(true)
  await page.getByLabel(/Replays a second/).fill('500')
  await page.getByLabel(`Type ${letters} to confirm`).fill(String(letters))
  await start.click()
  await heading(page, /^Job \d+$/)
  const bar = page.getByRole('progressbar', { name: 'Handled' })
  await page.getByText(new RegExp(`Handled [\\d,]+ of ${shown} \\((?!0|100)\\d+ %\\)`)).waitFor()
  expect(Number(await bar.getAttribute('value'))).toBeLessThan(100)
  const job = new URL(page.url()).pathname
  await close()
  const again = await console_.open(`/replays?org=bulk`)
  await again.page.getByRole('link', { name: /^Job \d+$/ }).click()
  await again.page.getByText(`It is done: ${shown} were sent again.`).waitFor({
    timeout: patienceMs,
  })
  expect(new URL(again.page.url()).pathname).toBe(job)
  await until(() => Promise.resolve(outhook.receiver.received.length >= before + letters))
  expect([...errors, ...again.errors]).toEqual([])
  await again.close()
})

Deno.test('replays the selected dead letters, and discards one with a reason', async () => {
  const { outhook } = console_
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/some', { p_event_types: ['some.*'], p_org_id: 'some' })
  await outhook.sql`
    select outbox.publish('some.made', '{}', p_org_id => 'some') from generate_series(1, 3)`
  await deadLetters(3, 'some')
  receivers.areRepaired = true
  const { page, close } = await console_.open('/dead-letters?org=some')
  const boxes = page.getByRole('checkbox')
  await boxes.nth(2).check()
  await boxes.nth(1).check()
  await page.getByText('2 dead letters selected').waitFor()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await deadLetters(1, 'some')
  await page.getByText('1 row, all').waitFor()
  await page.getByRole('link', { name: 'some.made' }).click()
  await page.getByRole('button', { name: 'Discard' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Discard' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('The customer has left')
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('The customer has left').waitFor()
  await deadLetters(0, 'some')
  await close()
})

Deno.test('changes, tests, pauses and resumes an endpoint', async () => {
  const { outhook } = console_
  const { id } = await outhook.createEndpoint('/settings', {
    p_event_types: ['a.b'],
    p_org_id: 'edit',
  })
  const { page, errors, close } = await console_.open('/endpoints?org=edit')
  await page.getByRole('link', { name: /\/settings$/ }).click()
  await heading(page, /\/settings$/)
  await page.getByText('Attempt 6').waitFor()
  await page.getByLabel('Timeout in ms').fill('100')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Expected a whole number from 500 to 60000.').waitFor()
  await page.getByLabel('Timeout in ms').fill('2000')
  await page.getByLabel('Event types').fill('a.b c.*')
  await page.getByLabel('Filter').fill('$.total >')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Filter').fill('$.total > 100')
  await page.getByRole('button', { name: 'Save' }).click()
  await until(async () => {
    const [row] = await outhook.sql`
      select e.timeout_ms = 2000 and (
        select array_agg(s.pattern order by s.pattern) = '{a.b,c.*}' from outbox.subscription s
        where s.endpoint_id = e.id) as done
      from outbox.endpoint e where e.id = ${id}`
    return row?.done
  })
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByRole('dialog').getByText('HTTP 200').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByText('No delivery waits at the moment.').waitFor()
  await page.getByLabel(/^Reason/).fill('a rebuild')
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('a rebuild').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('does not overwrite what somebody else has changed', async () => {
  const { outhook } = console_
  const { id } = await outhook.createEndpoint('/both', { p_event_types: ['a.b'], p_org_id: 'both' })
  const { page, close } = await console_.open(`/endpoints/${id}?org=both`)
  await page.getByLabel('Description').waitFor()
  // The page reads the endpoint again every few seconds, so the other change comes with the save.
  await page.route('**/api/v1/endpoints/*', async (route) => {
    if (route.request().method() === 'PATCH') {
      await outhook.sql`
        select outbox.update_org_endpoint('both', ${id}, '{"maxInFlight": 3}')`
    }
    await route.continue()
  })
  await page.getByLabel('Description').fill('mine')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  const [row] = await outhook.sql`select description from outbox.endpoint where id = ${id}`
  expect(row?.description).toBe('')
  await close()
})

Deno.test('works by the keyboard alone', async () => {
  const { outhook } = console_
  await outhook.createEndpoint('/keys', { p_event_types: ['key.*'], p_org_id: 'keys' })
  await outhook.sql`select outbox.publish('key.one', '{}', p_org_id => 'keys')`
  await outhook.sql`select outbox.publish('key.two', '{}', p_org_id => 'keys')`
  const { page, close } = await console_.open('/?org=keys')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Next and previous row').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.getByRole('link', { name: 'key.two' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await heading(page, 'key.one')
  await page.goBack()
  await page.getByRole('link', { name: 'key.two' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('key.two')
  await page.waitForURL(/q=key\.two/)
  await page.getByRole('link', { name: 'key.one' }).waitFor({ state: 'detached' })
  // While the list is read it has no rows.
  await page.getByRole('link', { name: 'key.two' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('k')
  await page.keyboard.press('Enter')
  await heading(page, 'key.two')
  await page.getByText('delivered', { exact: true }).waitFor()
  await close()
})

Deno.test('replays one dead letter and discards another by the keyboard alone', async () => {
  const { outhook } = console_
  receivers.areRepaired = false
  const org = 'keys-write'
  await outhook.createEndpoint('/repaired/keys', { p_event_types: ['key.*'], p_org_id: org })
  await outhook.sql`select outbox.publish('key.one', '{}', p_org_id => ${org})`
  await deadLetters(1, org)
  await outhook.sql`select outbox.publish('key.two', '{}', p_org_id => ${org})`
  await deadLetters(2, org)
  receivers.areRepaired = true
  const { page, errors, close } = await console_.open(`/?org=${org}`)
  const { keyboard } = page
  await keyboard.press('g')
  await keyboard.press('d')
  await page.getByRole('link', { name: 'key.one' }).waitFor()
  await keyboard.press('j')
  await keyboard.press('Enter')
  await heading(page, 'key.two')
  await page.getByRole('button', { name: 'Replay', exact: true }).waitFor()
  await keyboard.press('r')
  await deadLetters(1, org)
  await keyboard.press('g')
  await keyboard.press('d')
  await page.getByText('1 row, all').waitFor()
  await keyboard.press('j')
  await keyboard.press('Enter')
  await heading(page, 'key.one')
  const discard = page.getByRole('button', { name: 'Discard …' })
  await discard.waitFor()
  const hasFocus = (): Promise<boolean> => discard.evaluate((one) => one.matches(':focus'))
  for (let i = 0; i < 60 && !await hasFocus(); i++) await keyboard.press('Tab')
  await keyboard.press('Enter')
  const reason = page.getByRole('dialog').getByLabel('Reason')
  await reason.waitFor()
  for (let i = 0; i < 5 && !await reason.evaluate((one) => one.matches(':focus')); i++) {
    await keyboard.press('Tab')
  }
  await keyboard.type('Typed')
  await keyboard.press('Enter')
  await page.getByText('Typed', { exact: true }).waitFor()
  await deadLetters(0, org)
  expect(errors).toEqual([])
  await close()
})

Deno.test('shows the secret of an endpoint on demand, and rotates it with an overlap', async () => {
  const { outhook } = console_
  const { id, secret } = await outhook.createEndpoint('/rotate', {
    ...{ p_event_types: ['a.b'], p_org_id: 'rotate' },
  })
  const { page, errors, close } = await console_.open(`/endpoints/${id}?org=rotate`)
  const card = page.getByRole('region', { name: 'Signing secret' })
  await card.getByRole('button', { name: 'Show secret' }).waitFor()
  expect(await page.getByText(secret).count()).toBe(0)
  await card.getByRole('button', { name: 'Show secret' }).click()
  await card.getByText(secret).waitFor()
  await card.getByRole('button', { name: 'Rotate secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('The old secret ends').selectOption('in 7 days')
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await card.getByText(secret).waitFor({ state: 'detached' })
  await card.getByText('An older one also signs until').waitFor()
  await card.getByRole('button', { name: 'Expire it now' }).click()
  await dialog.getByText('No delivery waits at the moment.').waitFor()
  const expire = dialog.getByRole('button', { name: 'Expire it', exact: true })
  expect(await expire.isDisabled()).toBe(true)
  const { host } = new URL(outhook.receiver.url)
  await dialog.getByLabel(`Type ${host} to confirm`).fill(host)
  await expire.click()
  await dialog.waitFor({ state: 'detached' })
  await card.getByText('An older one also signs until').waitFor({ state: 'detached' })
  // Without an overlap the old secret ends at once, which has no way back either.
  await card.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByLabel('The old secret ends').selectOption('0')
  expect(await dialog.getByRole('button', { name: 'Rotate', exact: true }).isDisabled()).toBe(true)
  await dialog.getByLabel(`Type ${host} to confirm`).fill(host)
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await card.getByRole('button', { name: 'Hide secret' }).click()
  await card.getByText(/^whsec_/).waitFor({ state: 'detached' })
  expect(errors).toEqual([])
  await close()
})

Deno.test('views that are opened less often are loaded then: event types, sagas and settings', async () => {
  const { outhook } = console_
  await outhook.sql`select outbox.put_event_type('later', 'cart.made', 'A cart is made', ${
    JSON.stringify({ properties: { id: { type: 'integer', minimum: 9 } } })
  }::text::json)`
  await outhook.sql`
    create function public.note_step(p_context jsonb) returns jsonb
    language sql set search_path = '' as $$ select '{"noted": true}'::jsonb $$`
  await outhook.sql`select outbox.define_saga('note', ${
    outhook.sql.json([{ function: 'public.note_step', event_type: 'note.made' }])
  })`
  const [row] = await outhook.sql`
    select outbox.execute_saga('note', '{}', p_org_id => 'later') ->> 'id' as id`
  const { page, errors, close } = await console_.open('/?org=later')
  const scripts: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('.js')) scripts.push(request.url())
  })
  await page.getByRole('link', { name: 'Event types', exact: true }).click()
  await page.getByText('A cart is made').waitFor()
  expect(scripts.length).toBeGreaterThan(0)
  await page.getByRole('link', { name: 'cart.made' }).click()
  await heading(page, 'cart.made')
  await page.getByLabel('Example', { exact: true }).getByText('9').waitFor()
  await page.getByRole('link', { name: 'Sagas', exact: true }).click()
  await page.getByText('public.note_step').waitFor()
  await page.getByLabel('Id of an execution').fill(row?.id)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await heading(page, 'Execution')
  await page.getByText('No endpoint was subscribed').waitFor()
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByLabel('Search', { exact: true }).fill('portal tokens')
  await page.getByText('limit.portal_tokens_per_day').waitFor()
  await page.getByText('api.requests_per_second').waitFor({ state: 'detached' })
  expect(errors).toEqual([])
  await close()
})

Deno.test('tries a filter on recent events before saving it', async () => {
  const { outhook } = console_
  const org = 'trial'
  const { id } = await outhook.createEndpoint('/ok/trial', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
  })
  await outhook.sql`
    select outbox.publish('order.paid', jsonb_build_object('total', n * 30), p_org_id => ${org})
    from generate_series(1, 5) n`
  await outhook.sql`select outbox.publish('invoice.sent', '{"total": 900}', p_org_id => ${org})`
  const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
  const filter = page.getByLabel('Filter')
  const attempt = page.getByRole('button', { name: 'Try on recent events' })
  // Without a filter there is nothing to try.
  await filter.waitFor()
  expect(await attempt.count()).toBe(0)
  await filter.fill('$.total >')
  await attempt.click()
  await page.getByRole('alert').filter({ hasText: 'filter at character 10' }).waitFor()
  await filter.fill('$.total > 100')
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await attempt.click()
  await page.getByText('2 of the newest 5 events of these types would be sent.').waitFor()
  expect(await page.getByText('left out', { exact: true }).count()).toBe(3)
  await page.getByLabel('Event types').fill('*')
  await page.getByText('2 of the newest 5 events of these types would be sent.').waitFor({
    state: 'detached',
  })
  await attempt.click()
  await page.getByText('3 of the newest 6 events of these types would be sent.').waitFor()
  // The result of a trial that was still under way is not shown beside another filter.
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await page.route('**/filter-trials', async (route) => {
    arrived.resolve()
    await held.promise
    await route.continue()
  })
  await filter.fill('$.total > 500')
  await attempt.click()
  await arrived.promise
  await filter.fill('$.total > 600')
  held.resolve()
  await attempt.and(page.locator(':enabled')).waitFor()
  expect(await page.getByText('would be sent').count()).toBe(0)
  await filter.fill('$.total > 500')
  await page.getByText('1 of the newest 6 events of these types would be sent.').waitFor()
  // Nothing is saved by a trial.
  const [row] = await outhook.sql`
    select filter_text from outbox.subscription where endpoint_id = ${id}`
  expect(row?.filter_text).toBe(null)
  expect(errors).toEqual([])
  await close()
})

Deno.test('changes the settings that are shown on demand, and the retries with their schedule', async () => {
  const { outhook } = console_
  const org = 'further'
  const { id } = await outhook.createEndpoint('/ok/further', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
  })
  const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByText('More settings').click()
  await settings.getByLabel('Body of a request').selectOption('data')
  await settings.getByLabel('Retry after a status of 4xx').selectOption('yes')
  // It has no order.
  expect(await settings.getByLabel('After a dead letter').count()).toBe(0)
  const threshold = settings.getByLabel('Failures that open the breaker')
  await threshold.fill('0')
  // An error opens what is closed.
  await settings.getByText('More settings').click()
  await threshold.waitFor({ state: 'hidden' })
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Expected a whole number from 1 to 1000.').waitFor()
  await threshold.fill('7')
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByRole('button', { name: 'Undo changes' }).waitFor({ state: 'detached' })
  const [row] = await outhook.sql`
    select e.payload, e.retry_4xx, e.breaker_threshold, e.breaker_enabled
    from outbox.endpoint e where e.id = ${id}`
  expect(row).toEqual({
    ...{ payload: 'data', retry_4xx: true, breaker_threshold: 7, breaker_enabled: true },
  })

  const retries = page.getByRole('region', { name: 'Retries' })
  await retries.getByText('The preset of its kind.').waitFor()
  await retries.getByRole('button', { name: 'Change the retries' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Delays', { exact: true }).selectOption('fixed')
  await dialog.getByText('Fill in the fields to see the schedule.').waitFor()
  await dialog.getByLabel('Seconds before the first retry').fill('90')
  await dialog.getByLabel('Retries', { exact: true }).fill('2')
  const rows = dialog.getByRole('listitem')
  await rows.filter({ hasText: '3 min in all' }).waitFor()
  expect(await rows.count()).toBe(3)
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByLabel('Retries', { exact: true }).fill('51')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Expected a whole number from 0 to 50.').waitFor()
  await dialog.getByLabel('Retries', { exact: true }).fill('2')
  // A change of another setting in the meantime does not stand in the way.
  const again = page.waitForResponse((one) => one.url().endsWith('/retry-config'))
  await outhook.sql`select outbox.update_org_endpoint(${org}, ${id}, '{"maxInFlight": 3}')`
  await again
  await until(async () => await settings.getByLabel('Requests in flight').inputValue() === '3')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await retries.getByText('A schedule of its own.').waitFor()
  // The list follows with the response that has the new policy.
  await until(async () => await retries.getByRole('listitem').count() === 3)
  const policy = async (): Promise<unknown> => {
    const [one] = await outhook.sql`select e.retry from outbox.endpoint e where e.id = ${id}`
    return one?.retry
  }
  expect(await policy())
    .toEqual({ strategy: 'fixed', base_delay: 90, max_retries: 2, jitter: true })
  await retries.getByRole('button', { name: 'Change the retries' }).click()
  await dialog.getByRole('button', { name: 'Return to the preset' }).click()
  await dialog.waitFor({ state: 'detached' })
  await retries.getByText('The preset of its kind.').waitFor()
  expect(await policy()).toBe(null)
  expect(errors).toEqual([])
  await close()
})

Deno.test('a search by correlation id or idempotency key has a time, too', async () => {
  const { outhook } = console_
  const org = 'when'
  await outhook.sql`
    select outbox.publish('when.made', '{}', p_org_id => ${org}, p_correlation_id => 'case-7',
      p_idempotency_key => 'key-7')`
  const { page, errors, close } = await console_.open(`/events?org=${org}&by=correlation&q=case-7`)
  const found = page.getByRole('link', { name: 'when.made' })
  for (const [by, text] of [['correlation', 'case-7'], ['idempotency', 'key-7']] as const) {
    const address = `${console_.running.url}/events?org=${org}&by=${by}&q=${text}&span=`
    await page.goto(`${address}hour`)
    await found.waitFor()
    await page.goto(`${address}between&to=2026-01-01T00:00:00Z`)
    await page.getByText('Nothing was found').waitFor()
    expect(await found.count()).toBe(0)
  }
  await page.getByLabel('Search by').selectOption('Event id')
  await page.getByLabel('Published').waitFor({ state: 'detached' })
  expect(errors).toEqual([])
  await close()
})
