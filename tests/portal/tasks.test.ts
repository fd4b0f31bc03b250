/** What a customer does in the portal, inside the app of somebody else. */

import { expect } from '@std/expect'
import { findingsOf } from '../console/_support/axe.ts'
import { receivers } from '../console/_support/sample.ts'
import { closed, startPortal, type TestPortal, until } from './_support/portal.ts'

let portal_: TestPortal

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
})
Deno.test.afterAll(async () => {
  await portal_?.stop()
})

async function describeOrder(org: string): Promise<void> {
  await portal_.outhook.sql`
    select outbox.put_event_type(${org}, 'order.paid', 'An order is paid', ${
    JSON.stringify({
      type: 'object',
      properties: { id: { type: 'integer', minimum: 7 }, shop: { type: 'string', const: 'Ada' } },
    })
  }::text::json)`
}

Deno.test('a customer sets up an endpoint, tests it, rotates its secret and deletes it', async () => {
  const { outhook } = portal_
  const org = 'setup'
  await describeOrder(org)
  const { page, portal, errors, close } = await portal_.open(org)
  await portal.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
  await portal.getByRole('button', { name: 'Add your first endpoint' }).click()
  await portal.getByRole('heading', { name: 'Add endpoint' }).waitFor()

  // What is missing is said beside its field, and nothing is sent.
  await portal.getByRole('button', { name: 'Create endpoint' }).click()
  await portal.getByText('Expected a URL such as https://example.com/webhooks.').waitFor()
  await portal.getByText('Choose at least one event type.').waitFor()
  await portal.getByLabel('URL', { exact: true }).fill(`${outhook.receiver.url}/shop`)
  await portal.getByLabel('Description').fill('The shop')
  await portal.getByRole('button', { name: 'Example of order.paid' }).click()
  await portal.locator('pre[aria-label="Example"]').getByText('"Ada"').waitFor()
  await portal.getByRole('checkbox', { name: /^order\.paid/ }).check()
  await portal.getByRole('button', { name: 'Create endpoint' }).click()
  const dialog = page.getByRole('dialog')
  const secret = await dialog.getByText(/^whsec_/).innerText()
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await closed(page)
  const [made] = await outhook.sql`
    select e.id, e.description from outbox.endpoint e where e.org_id = ${org}`
  expect(made?.description).toBe('The shop')

  // The code in six languages.
  await portal.getByRole('heading', { name: 'Check the signature' }).waitFor()
  for (const language of ['JavaScript', 'Python', 'Ruby', 'PHP', 'Go', 'Java']) {
    await portal.getByRole('button', { name: language, exact: true }).click()
    await portal.locator(`pre[aria-label="${language}"]`).waitFor()
  }

  // The secret is shown on demand only.
  expect(await portal.getByText(secret).count()).toBe(0)
  await portal.getByRole('button', { name: 'Show secret' }).click()
  await portal.getByText(secret).waitFor()
  await portal.getByRole('button', { name: 'Rotate secret' }).click()
  await dialog.getByLabel('The old secret ends').selectOption('in 7 days')
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  await closed(page)
  await portal.getByText('The old secret also signs until').waitFor()
  await portal.getByText(/^whsec_/).waitFor()
  expect(await portal.getByText(/^whsec_/).innerText()).not.toBe(secret)
  await portal.getByRole('button', { name: 'End it now' }).click()
  await dialog.getByRole('button', { name: 'End it now' }).click()
  await closed(page)
  await portal.getByText('The old secret also signs until').waitFor({ state: 'detached' })

  await portal.getByRole('button', { name: 'Send test event' }).click()
  await dialog.getByText('HTTP 200').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).click()
  await closed(page)

  // A change, and what somebody else changes, which is not overwritten.
  await portal.getByRole('button', { name: 'Settings', exact: true }).click()
  await portal.getByText('Filter and headers').click()
  await portal.getByLabel('Filter').fill('$.total >')
  await portal.getByRole('button', { name: 'Save' }).click()
  await portal.locator('input[aria-invalid="true"]').waitFor()
  await portal.getByLabel('Filter').fill('$.total > 100')
  await portal.getByRole('button', { name: 'Try on recent events' }).click()
  await portal.getByText(/types that would be sent: \d+ of \d+|no event of these types to try/)
    .waitFor()
  await portal.getByRole('button', { name: 'Add header' }).click()
  await portal.getByLabel('Name of the header').fill('x-tenant')
  await portal.getByLabel('Value of the header').fill('ada')
  await portal.getByRole('button', { name: 'Save' }).click()
  await portal.getByText('Saved', { exact: true }).waitFor()
  await portal.getByText('the stored value').waitFor()
  const [changed] = await outhook.sql`
    select s.filter::text as filter from outbox.subscription s where s.endpoint_id = ${made?.id}`
  expect(changed?.filter).toContain('100')

  await portal.getByRole('button', { name: 'Pause' }).click()
  await portal.getByRole('button', { name: 'Resume' }).click()
  await portal.getByRole('button', { name: 'Pause' }).waitFor()

  await portal.getByRole('button', { name: 'Delete endpoint' }).click()
  const remove = dialog.getByRole('button', { name: 'Delete endpoint' })
  expect(await remove.isDisabled()).toBe(true)
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByLabel(/^Type .* to confirm$/).fill(new URL(outhook.receiver.url).host)
  await remove.click()
  await portal.getByRole('heading', { name: 'No endpoint yet' }).waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('a customer tries a filter on recent events, unless the token is limited', async () => {
  const { outhook } = portal_
  const org = 'trial'
  const { id } = await outhook.createEndpoint('/ok', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
  })
  await outhook.sql`
    select outbox.publish('order.paid', jsonb_build_object('total', n * 30), p_org_id => ${org})
    from generate_series(1, 5) n`
  await outhook.sql`select outbox.publish('invoice.sent', '{"total": 900}', p_org_id => ${org})`
  const query = `page=${encodeURIComponent(`endpoints/${id}/settings`)}`
  const { page, portal, errors, close } = await portal_.open(org, { query })
  const filter = portal.getByLabel('Filter')
  const attempt = portal.getByRole('button', { name: 'Try on recent events' })
  await portal.getByText('Filter and headers').click()
  await filter.fill('$.total >')
  await attempt.click()
  await portal.getByRole('alert').filter({ hasText: 'filter' }).waitFor()
  await filter.fill('$.total > 100')
  await portal.getByRole('alert').waitFor({ state: 'detached' })
  await attempt.click()
  await portal.getByText('Newest events of these types that would be sent: 2 of 5.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  // A result that comes late is not shown beside another filter.
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await page.route('**/filter-trials', async (route) => {
    arrived.resolve()
    await held.promise
    await route.continue()
  })
  await filter.fill('$.total > 140')
  await attempt.click()
  await arrived.promise
  await filter.fill('$.total > 141')
  held.resolve()
  await attempt.and(portal.locator(':enabled')).waitFor()
  expect(await portal.getByText('that would be sent').count()).toBe(0)
  expect(errors).toEqual([])
  await close()
  const scopes = ['endpoints:read', 'endpoints:write', 'event-types:read']
  for (const body of [{ endpointIds: [id] }, { eventTypes: ['order.*'] }, { scopes }]) {
    const limited = await portal_.open(org, { query, body })
    await limited.portal.getByText('Filter and headers').click()
    await limited.portal.getByLabel('Filter').fill('$.total >')
    await limited.portal.getByRole('button', { name: 'Save' }).click()
    await limited.portal.locator('input[aria-invalid="true"]').waitFor()
    const button = limited.portal.getByRole('button', { name: 'Try on recent events' })
    expect([body, await button.count()]).toEqual([body, 0])
    await limited.close()
  }
})

Deno.test('a customer finds a failed delivery, sends it again, and replays what failed', async () => {
  const { outhook } = portal_
  const org = 'resend'
  receivers.areRepaired = false
  const { id } = await outhook.createEndpoint('/repaired/crm', {
    p_event_types: ['customer.*'],
    p_org_id: org,
  })
  await outhook.sql`
    select outbox.publish('customer.created', '{"id": 12345678901234567890}', p_org_id => ${org})
    from generate_series(1, 3)`
  await until('three dead letters', async () => {
    const [row] = await outhook.sql`
      select count(*) = 3 as done from outbox.dead_letter where org_id = ${org}`
    return row?.done
  })
  receivers.areRepaired = true
  const { portal, errors, close } = await portal_.open(org)
  await portal.getByRole('button', { name: /\/repaired\/crm$/ }).click()
  await portal.getByRole('heading', { name: /\/repaired\/crm$/ }).waitFor()
  await portal.getByLabel('Status').selectOption('failed')
  await portal.getByText('3 shown, all').waitFor()
  const inMinutes = (n: number): string =>
    new Date(Date.now() + n * 60_000).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' })
      .slice(0, 16).replace(' ', 'T')
  await portal.getByLabel('Published from').fill(inMinutes(5))
  await portal.getByText('No delivery matches.').waitFor()
  await portal.getByLabel('Published from').fill(inMinutes(-5))
  await portal.getByText('3 shown, all').waitFor()
  await portal.getByLabel('Published before').fill(inMinutes(-4))
  await portal.getByText('No delivery matches.').waitFor()
  await portal.getByLabel('Published before').fill('')
  await portal.getByRole('button', { name: 'customer.created' }).first().click()
  await portal.getByRole('heading', { name: 'customer.created' }).waitFor()
  await portal.getByText('Attempt 1 failed').waitFor()
  await portal.getByText('HTTP 404').waitFor()
  await portal.getByText('Response', { exact: true }).click()
  await portal.getByText('no route for this webhook').waitFor()
  // The number is shown as it was published.
  await portal.getByText('12345678901234567890').waitFor()
  await portal.getByRole('button', { name: 'Send again' }).click()
  await portal.getByText('Attempt 2 was delivered').waitFor()

  await portal.getByRole('button', { name: 'The endpoint' }).click()
  await portal.getByRole('button', { name: 'Replay failed' }).click()
  await portal.getByRole('button', { name: 'Show how many' }).click()
  await portal.getByText('2 deliveries would be sent again.').waitFor()
  await portal.getByRole('button', { name: 'Replay 2' }).click()
  await portal.getByText('Done: 2 of 2 were sent again.').waitFor()
  await until('all were delivered', async () => {
    const [row] = await outhook.sql`
      select count(*) = 3 as done from outbox.attempt
      where endpoint_id = ${id} and outcome = 'delivered'`
    return row?.done
  })
  // Nothing is left to replay.
  await portal.getByLabel('Failed since').selectOption('7 days ago')
  await portal.getByRole('button', { name: 'Show how many' }).click()
  await portal.getByText('Nothing has failed since then.').waitFor()
  // Unless there are more than were read.
  await portal.page().route('**/replay-jobs/preview', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...await response.json(), capped: true } })
  })
  await portal.getByRole('button', { name: 'Show how many' }).click()
  await portal.getByText('None of the newest 20,000 that failed is of this type.').waitFor()
  await portal.getByRole('button', { name: 'Replay all' }).waitFor()
  expect(errors).toEqual([])
  await close()
})

for (const isLimited of [false, true]) {
  const who = isLimited ? 'a token with limits' : 'a customer'
  Deno.test(`${who} sees a replay again after another tab and a reload, and starts no second one`, async () => {
    const { outhook } = portal_
    const org = `again-${isLimited}`
    receivers.areRepaired = false
    const { id } = await outhook.createEndpoint('/repaired/again', {
      ...{ p_event_types: ['customer.*'], p_org_id: org },
    })
    await outhook.sql`
      select outbox.publish('customer.created', '{}', p_org_id => ${org})
      from generate_series(1, 200)`
    await until('200 dead letters', async () => {
      const [row] = await outhook.sql`
        select count(*) = 200 as done from outbox.dead_letter where org_id = ${org}`
      return row?.done
    })
    receivers.areRepaired = true
    const body = isLimited ? { endpointIds: [id] } : {}
    const look = async (query: string): Promise<Awaited<ReturnType<TestPortal['open']>>> => {
      const tab = await portal_.open(org, { body, query })
      // One in a second, so that the job goes on for longer than the test looks at it.
      await tab.page.route('**/replay-jobs', (route) => {
        const sent = route.request().postDataJSON()
        return route.continue(sent === null ? {} : { postData: { ...sent, ratePerSecond: 1 } })
      })
      const role = query === '' ? 'button' : 'link'
      await tab.portal.getByRole(role, { name: /\/repaired\/again$/ }).click()
      await tab.portal.getByRole(role, { name: 'Replay failed' }).click()
      await tab.portal.getByRole('button', { name: 'Show how many' }).click()
      await tab.portal.getByRole('button', { name: 'Replay 200' }).waitFor()
      return tab
    }
    const { page, portal, errors, close } = await look('routing=hash')
    const other = isLimited ? null : await look('')
    const runs = /^\d+ of 200 were sent again so far/
    const seesIt = async (): Promise<void> => {
      await portal.getByText(runs).waitFor()
      const bar = portal.getByRole('progressbar', { name: 'Replay failed' })
      expect(Number(await bar.getAttribute('value'))).toBeLessThan(1)
      expect(await portal.getByRole('button', { name: 'Show how many' }).count()).toBe(0)
    }
    await portal.getByRole('button', { name: 'Replay 200' }).click()
    await seesIt()
    expect(page.url()).toMatch(/\/replay\/\d+$/)
    expect(await findingsOf(page)).toEqual([])
    await portal.getByRole('link', { name: 'Deliveries' }).click()
    await portal.getByLabel('Status').waitFor()
    await portal.getByRole('link', { name: 'Replay failed' }).click()
    await seesIt()
    await page.goBack()
    await page.goBack()
    await page.reload()
    await seesIt()
    // Whoever has looked before sees that one, with the click or without it.
    await Promise.any([
      other?.portal.getByRole('button', { name: 'Replay 200' }).click(),
      other?.portal.getByText(runs).waitFor(),
    ])
    await other?.portal.getByText(runs).waitFor()
    await outhook.admin`
      update outbox.replay_job set rate_per_second = 1000 where org_id = ${org}`
    await portal.getByText('Done: 200 of 200 were sent again.').waitFor()
    await portal.getByRole('button', { name: 'Show how many' }).waitFor()
    const [jobs] = await outhook.sql`
      select count(*)::int as n from outbox.replay_job where org_id = ${org}`
    expect([jobs?.n, errors, other?.errors ?? []]).toEqual([1, [], []])
    await other?.close()
    await close()
  })
}

Deno.test('a banner tells of an endpoint that is disabled, and of one that has failed for long', async () => {
  const { outhook } = portal_
  const org = 'banner'
  const failing = await outhook.createEndpoint('/status/500', {
    p_event_types: ['a.*'],
    p_org_id: org,
  })
  const off = await outhook.createEndpoint('/off', { p_event_types: ['b.*'], p_org_id: org })
  // Neither is on the first page of 50.
  const crowd = 'crowd'
  const inCrowd = { p_event_types: ['b.*'], p_org_id: crowd }
  const last = await outhook.createEndpoint('/last', inCrowd)
  const weak = await outhook.createEndpoint('/status/500/weak', inCrowd)
  for (let i = 0; i < 50; i++) await outhook.createEndpoint(`/crowd/${i}`, inCrowd)
  await outhook.sql`select outbox.disable_endpoint(${last.id}, 'The last one is off')`
  await outhook.admin`
    update outbox.gate set first_failure_at = now() - interval '3 hours'
    where endpoint_id in (${failing.id}, ${weak.id})`
  await outhook.sql`select outbox.disable_endpoint(${off.id}, 'It answered with 410')`
  const { portal, close } = await portal_.open(org)
  await portal.getByText('Each attempt has failed for 3 hr.').waitFor()
  await portal.getByText('An endpoint is disabled and gets no events.').waitFor()
  await portal.getByText('It answered with 410').waitFor()
  await close()
  const other = await portal_.open(crowd)
  await other.portal.getByText('The last one is off').waitFor()
  await other.portal.getByText('Each attempt has failed for 3 hr.').waitFor()
  await other.portal.getByRole('button', { name: /\/weak$/ }).waitFor()
  expect(await other.portal.locator('.warning').count()).toBe(2)
  await other.close()
  // Within its limits, which refuse a filter.
  const limited = await portal_.open(org, { body: { endpointIds: [failing.id] } })
  await limited.portal.getByText('Each attempt has failed for 3 hr.').waitFor()
  expect(await limited.portal.locator('.warning').count()).toBe(1)
  await limited.close()
})
