/**
 * What a new user does without having read a page: from the first page of the console, or of an app with the
 * portal, by what is written there. No task takes more than six actions. Two of the ten need no action: hostile
 * texts are in `views.test.ts`, and the messages of a person, which need a WhatsApp, in `messages.test.ts`.
 */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { buildPage } from '../../console/build/build.ts'
import { type RunningConsole, serveConsole } from '../../console/server/serve.ts'
import { signPortalToken } from '../../functions/api/auth/portal.ts'
import { customerPage } from '../../functions/api/auth/scopes.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { closed, startPortal, type TestPortal, until } from '../portal/_support/portal.ts'
import { openTab, type Tab } from './_support/browser.ts'
import { handOn } from './_support/hand.ts'
import { receivers } from './_support/sample.ts'

let portal_: TestPortal
let running: RunningConsole
/** Whether the console gets no response from the API. */
let isDown = false

const most = 6
const isShort = Deno.env.get('OUTHOOK_TESTS') === 'short'

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
  const { stack } = portal_.outhook
  const api = `${stack.apiUrl}/functions/v1/api`
  // In front of the API, so that it can be down for the console alone.
  const front = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen(): void {} },
    async (request) => {
      if (isDown) return new Response('down', { status: 503 })
      const { pathname, search } = new URL(request.url)
      const body = request.body === null ? {} : { body: await request.arrayBuffer() }
      const { method, headers } = request
      return await fetch(api + pathname + search, { method, headers, ...body })
    },
  )
  const served = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `http://127.0.0.1:${front.addr.port}`,
      secretKey: stack.keys.secretKey,
    },
    port: 0,
  })
  running = {
    ...served,
    async stop(): Promise<void> {
      await served.stop()
      await front.shutdown()
    },
  }
})
Deno.test.afterAll(async () => {
  await running?.stop()
  await portal_?.stop()
})

/** The first page of the console, in an organisation. */
async function openConsole(org: string): Promise<Tab> {
  const tab = await openTab(portal_.browser)
  const { hash } = new URL(running.newLink())
  await tab.page.goto(`${running.url}/?org=${org}${hash}`)
  await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return tab
}

/** A page by its name in the navigation. */
function pageLink(page: Page, name: string): ReturnType<Page['getByRole']> {
  return page.getByRole('navigation', { name: 'Pages', exact: true })
    .getByRole('link', { name, exact: true })
}

async function deadLetters(org: string, count: number): Promise<void> {
  await until(`${count} dead letters`, async () => {
    const [row] = await portal_.outhook.sql`
      select count(*) = ${count} as done from outbox.dead_letter
      where org_id = ${org} and replayed_at is null and discarded_at is null`
    return row?.done
  })
}

Deno.test('1: find why the webhook of an order did not arrive, and send it again', async () => {
  const { outhook } = portal_
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/shop', { p_event_types: ['order.*'], p_org_id: 'one' })
  await outhook.sql`
    select outbox.publish('order.paid', jsonb_build_object('id', n), p_correlation_id => 'order-' || n,
      p_org_id => 'one') from generate_series(1, 20) n`
  await deadLetters('one', 20)
  receivers.areRepaired = true
  const { page, errors, close } = await openConsole('one')
  const hand = handOn(page)
  await hand.click(pageLink(page, 'Events'))
  await hand.type(page.getByLabel('Search', { exact: true }), 'order-7')
  await page.getByText('1 row, all').waitFor()
  await hand.click(page.getByRole('link', { name: 'order.paid' }))
  await page.getByText('Attempt 1 failed').waitFor()
  await page.getByText('HTTP 404').first().waitFor()
  await hand.click(page.getByText('Response', { exact: true }))
  await page.getByText('no route for this webhook').waitFor()
  await hand.click(page.getByRole('button', { name: 'Send again' }))
  await page.getByText('Attempt 2 was delivered').waitFor()
  hand.done('find why, and send again', most)
  expect(errors).toEqual([])
  await close()
})

Deno.test('2: replay 5,000 dead letters, with the page closed in the middle', async () => {
  const { outhook } = portal_
  const count = isShort ? 500 : 5000
  receivers.areRepaired = false
  await outhook.createEndpoint('/repaired/two', { p_event_types: ['bulk.*'], p_org_id: 'two' })
  await outhook.sql`
    select outbox.publish('bulk.made', '{}', p_org_id => 'two') from generate_series(1, ${count}::int)`
  await deadLetters('two', count)
  receivers.areRepaired = true
  const first = await openConsole('two')
  const hand = handOn(first.page)
  await hand.click(pageLink(first.page, 'Dead letters'))
  await hand.click(first.page.getByRole('button', { name: 'Replay all that match' }))
  await hand.type(first.page.getByLabel(`Type ${count} to confirm`), String(count))
  await hand.click(first.page.getByRole('button', { name: 'Start the job' }))
  await first.page.getByRole('progressbar', { name: 'Handled' }).waitFor()
  await first.close()
  const again = await openConsole('two')
  await pageLink(again.page, 'Replay jobs').click()
  await again.page.getByRole('link', { name: /^Job \d+$/ }).click()
  // The total is of the server: the address of the list does not have it.
  await again.page.getByText(new RegExp(`Handled \\d[\\d,]* of ${count.toLocaleString('en')} `))
    .waitFor()
  await again.page.getByText(`It is done: ${count.toLocaleString('en')} were sent again.`).waitFor({
    timeout: 180_000,
  })
  hand.done(`replay ${count}`, most)
  expect([...first.errors, ...again.errors]).toEqual([])
  await again.close()
})

Deno.test('3: a customer sets up an endpoint inside an app', async () => {
  const { outhook } = portal_
  const { page, portal, errors, close } = await portal_.open('three')
  const hand = handOn(page)
  await hand.click(portal.getByRole('button', { name: 'Add your first endpoint' }))
  await hand.type(portal.getByLabel('URL', { exact: true }), `${outhook.receiver.url}/three`)
  await hand.click(portal.getByRole('checkbox', { name: 'All events' }))
  await hand.click(portal.getByRole('button', { name: 'Create endpoint' }))
  await page.getByRole('dialog').getByText(/^whsec_/).waitFor()
  await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Continue' }))
  await closed(page)
  await hand.click(portal.getByRole('button', { name: 'Send test event' }))
  await page.getByRole('dialog').getByText('HTTP 200').waitFor()
  hand.done('set up an endpoint and test it', most)
  expect(errors).toEqual([])
  await close()
})

Deno.test('4: a token expires while the page is open, and a login goes on', async () => {
  const org = 'four'
  const { app, browser, outhook } = portal_
  await outhook.createEndpoint('/four', { p_event_types: ['a.*'], p_org_id: org })
  const sign = (secondsLeft: number): Promise<string> =>
    signPortalToken({
      ...{ id: crypto.randomUUID(), generation: 0, limits: null, orgId: org, scopes: customerPage },
      ...{ subject: 'portal', lifeSeconds: 60 },
      issuedAt: Math.floor(Date.now() / 1000) - 60 + secondsLeft,
    }, outhook.stack.keys.portalSecret)
  const { page, errors, close } = await openTab(browser)
  let isLoggedIn = true
  let secondsLeft = -24
  await page.route(`${app.url}/token`, async (route) => {
    // The API takes a token for 30 s more, because clocks differ.
    if (isLoggedIn) await route.fulfill({ json: { token: await sign(secondsLeft) } })
    else await route.fulfill({ status: 401, body: '' })
  })
  await page.goto(app.url)
  const portal = page.locator('outhook-portal')
  await portal.getByRole('button', { name: /\/four$/ }).waitFor()
  isLoggedIn = false
  const hand = handOn(page)
  await portal.getByText('You are signed out. What you have typed is kept.').waitFor({
    timeout: 60_000,
  })
  await portal.getByRole('button', { name: /\/four$/ }).waitFor()
  isLoggedIn = true
  secondsLeft = 3600
  await hand.click(portal.getByRole('button', { name: 'Sign in again' }))
  await portal.getByText('You are signed out.').waitFor({ state: 'detached' })
  await hand.click(portal.getByRole('button', { name: /\/four$/ }))
  await portal.getByRole('heading', { name: /\/four$/ }).waitFor()
  hand.done('an expired token', most)
  expect(errors).toEqual([])
  await close()
})

Deno.test('5: the API is down, and the page says so until it is back', async () => {
  await portal_.outhook.createEndpoint('/five', { p_event_types: ['a.*'], p_org_id: 'five' })
  const { page, errors, close } = await openConsole('five')
  await page.getByText('No endpoint has had work').waitFor()
  const hand = handOn(page)
  isDown = true
  await page.getByText('API does not respond').waitFor()
  await page.getByText(/What is shown is .* old/).first().waitFor()
  isDown = false
  await page.getByText('API does not respond').waitFor({ state: 'detached' })
  await page.getByText(/What is shown is .* old/).first().waitFor({ state: 'detached' })
  hand.done('the API is down', 0)
  expect(errors).toEqual([])
  await close()
})

Deno.test('6: find the endpoint of one customer among 5,000', async () => {
  const { outhook } = portal_
  const count = isShort ? 300 : 5000
  await outhook.sql`
    select outbox.set_org_setting('six', 'limit.endpoints', to_jsonb(${count}::int))`
  await outhook.sql`
    select outbox.create_endpoint('https://example.com/hooks/' || n, '{order.*}', p_org_id => 'six',
      p_description => 'Customer ' || lpad(n::text, 5, '0'))
    from generate_series(1, ${count}::int) n`
  const { page, errors, close } = await openConsole('six')
  const hand = handOn(page)
  await hand.click(pageLink(page, 'Endpoints'))
  await hand.type(page.getByLabel('Search', { exact: true }), 'customer 00017')
  await page.getByText('1 row, all').waitFor()
  await hand.click(page.getByRole('link', { name: 'https://example.com/hooks/17' }))
  await page.getByRole('heading', { level: 1, name: /hooks\/17$/ }).waitFor()
  hand.done(`find an endpoint among ${count}`, most)
  expect(errors).toEqual([])
  await close()
})

Deno.test('9: rotate the secret of an endpoint', async () => {
  const { outhook } = portal_
  const { secret } = await outhook.createEndpoint('/nine', {
    ...{ p_event_types: ['a.b'], p_org_id: 'nine' },
  })
  const { page, errors, close } = await openConsole('nine')
  const hand = handOn(page)
  await hand.click(pageLink(page, 'Endpoints'))
  await hand.click(page.getByRole('link', { name: /\/nine$/ }))
  await hand.click(page.getByRole('button', { name: 'Rotate secret' }))
  await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }))
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await hand.click(page.getByRole('button', { name: 'Show secret' }))
  await page.getByText('An older one also signs until').waitFor()
  const shown = await page.getByText(/^whsec_/).innerText()
  expect(shown).not.toBe(secret)
  hand.done('rotate a secret', most)
  expect(errors).toEqual([])
  await close()
})

Deno.test('10: pause all that goes to an endpoint', async () => {
  const { outhook } = portal_
  const { id } = await outhook.createEndpoint('/ten', {
    ...{ p_event_types: ['a.*'], p_org_id: 'ten' },
  })
  const { page, errors, close } = await openConsole('ten')
  const hand = handOn(page)
  await hand.click(pageLink(page, 'Endpoints'))
  await hand.click(page.getByRole('link', { name: /\/ten$/ }))
  await hand.click(page.getByRole('button', { name: 'Pause' }))
  await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Pause' }))
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  hand.done('pause an endpoint', most)
  const [row] = await outhook.sql`select status from outbox.endpoint where id = ${id}`
  expect(row?.status).toBe('paused')
  expect(errors).toEqual([])
  await close()
})
