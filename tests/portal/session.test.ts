/** The token of the portal: it is renewed, it expires, it allows less; and the API may be down. */

import { expect } from '@std/expect'
import { openTab } from '../console/_support/browser.ts'
import { withApi } from '../../portal/build/page.ts'
import { startPortal, type TestPortal, until } from './_support/portal.ts'

let portal_: TestPortal

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
})
Deno.test.afterAll(async () => {
  await portal_?.stop()
})

/** Revokes all tokens of an organisation, which the API notices within 5 s. */
async function revokeAll(org: string): Promise<void> {
  await portal_.outhook.sql`select outbox.revoke_portal_tokens(${org})`
}

Deno.test('the token is renewed before it expires, without a change of the page', async () => {
  const org = 'renew'
  await portal_.outhook.createEndpoint('/renew', { p_event_types: ['a.*'], p_org_id: org })
  const { app } = portal_
  const tab = await openTab(portal_.browser)
  await tab.page.clock.install()
  app.asks = { orgId: org, body: { expiresInSeconds: 600 } }
  app.reasons.length = 0
  await tab.page.goto(app.url)
  const portal = tab.page.locator('outhook-portal')
  await portal.getByRole('button', { name: /\/renew$/ }).click()
  await portal.getByRole('heading', { name: /\/renew$/ }).waitFor()
  expect(app.reasons).toEqual(['first'])
  await tab.page.clock.fastForward(500_000)
  await until('a second token', () => app.reasons.length === 2)
  expect(app.reasons).toEqual(['first', 'expiring'])
  await portal.getByRole('heading', { name: /\/renew$/ }).waitFor()
  expect(tab.errors).toEqual([])
  await tab.close()
})

Deno.test('a refused token is replaced once, and what is typed stays', async () => {
  const org = 'refused'
  const { app } = portal_
  const { portal, errors, close } = await portal_.open(org)
  await portal.getByRole('button', { name: 'Add endpoint' }).click()
  await portal.getByLabel('Description').fill('half a form')
  await revokeAll(org)
  await until('another token', () => app.reasons.includes('refused'))
  expect(app.reasons).toEqual(['first', 'refused'])
  expect(await portal.getByLabel('Description').inputValue()).toBe('half a form')
  expect(await portal.getByRole('alert').count()).toBe(0)
  expect(errors).toEqual([])
  await close()
})

Deno.test('without a new token the page says so, keeps its state, and goes on after signing in', async () => {
  const org = 'lost'
  const { app } = portal_
  const { page, portal, close } = await portal_.open(org)
  await portal.getByRole('button', { name: 'Add endpoint' }).click()
  await portal.getByLabel('Description').fill('half a form')
  app.isDown = true
  await revokeAll(org)
  await portal.getByText('You are signed out. What you have typed is kept.').waitFor()
  await until('the event outhook-error', () => page.evaluate('seen.includes("error")'))
  expect(await portal.getByLabel('Description').inputValue()).toBe('half a form')
  // The page does not ask again by itself.
  expect(app.reasons).toEqual(['first', 'refused'])
  app.isDown = false
  await portal.getByRole('button', { name: 'Sign in again' }).click()
  await portal.getByText('You are signed out.').waitFor({ state: 'detached' })
  expect(await portal.getByLabel('Description').inputValue()).toBe('half a form')
  await close()
})

Deno.test('a token source that returns a refused token is asked twice, and the page says so', async () => {
  const { app, browser } = portal_
  const tab = await openTab(browser)
  let asked = 0
  await tab.page.route(`${app.url}/token`, (route) => {
    asked++
    return route.fulfill({ json: { token: 'of.another.project' } })
  })
  await tab.page.goto(app.url)
  const portal = tab.page.locator('outhook-portal')
  await portal.getByText('You are signed out.').waitFor()
  await until('the event outhook-error', () => tab.page.evaluate('seen.includes("error")'))
  expect(asked).toBe(2)
  const third = tab.page.waitForResponse(`${app.url}/token`)
  await portal.getByRole('button', { name: 'Sign in again' }).click()
  await third
  await until('the button again', () => tab.page.evaluate('seen.length === 2'))
  expect([asked, await portal.getByText('You are signed out.').count()]).toEqual([3, 1])
  await tab.close()
})

Deno.test('a renewed token of another customer shows nothing of the first one', async () => {
  const { app, outhook } = portal_
  await outhook.createEndpoint('/of-a', { p_event_types: ['a.*'], p_org_id: 'cust-a' })
  await outhook.createEndpoint('/of-b', { p_event_types: ['a.*'], p_org_id: 'cust-b' })
  const { portal, errors, close } = await portal_.open('cust-a')
  await portal.getByRole('button', { name: /\/of-a$/ }).click()
  await portal.getByRole('heading', { name: /\/of-a$/ }).waitFor()
  app.asks = { orgId: 'cust-b', body: {} }
  await revokeAll('cust-a')
  await portal.getByRole('button', { name: /\/of-b$/ }).waitFor()
  expect(await portal.getByText(/\/of-a$/).count()).toBe(0)
  expect(errors).toEqual([])
  await close()
})

Deno.test('a token that is limited to a prefix, without a catalogue, asks for the type', async () => {
  const org = 'prefix'
  const { outhook } = portal_
  await outhook.createEndpoint('/prefix', { p_event_types: ['order.*'], p_org_id: org })
  const [event] = await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => ${org}) as id`
  await outhook.attemptsOf(event?.id)
  const body = { scopes: ['endpoints:read', 'deliveries:read'], eventTypes: ['order.*'] }
  const { portal, errors, close } = await portal_.open(org, { body })
  await portal.getByRole('button', { name: /\/prefix$/ }).click()
  await portal.getByText('Enter an event type to see its deliveries.').waitFor()
  await portal.getByLabel('Event type').fill('order.paid')
  await portal.getByLabel('Event type').press('Enter')
  await portal.getByText('1 shown, all').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('if the API does not respond, the last data stays with its age', async () => {
  const org = 'down'
  await portal_.outhook.createEndpoint('/down', { p_event_types: ['a.*'], p_org_id: org })
  const { page, portal, errors, close } = await portal_.open(org)
  await portal.getByRole('button', { name: /\/down$/ }).waitFor()
  const api = `${portal_.outhook.stack.apiUrl}/**`
  await page.route(api, (route) => route.abort())
  await portal.getByText(/What is shown is .* old\./).first().waitFor()
  await portal.getByRole('button', { name: /\/down$/ }).waitFor()
  await page.unroute(api)
  await portal.getByText(/What is shown is .* old\./).first().waitFor({ state: 'detached' })
  expect(errors).toEqual([])
  await close()
})

Deno.test('if the API never responded, the page says so and tries again', async () => {
  const { app, browser, outhook } = portal_
  app.asks = { orgId: 'never', body: {} }
  const tab = await openTab(browser)
  const api = `${outhook.stack.apiUrl}/**`
  await tab.page.route(api, (route) => route.abort())
  await tab.page.goto(app.url)
  const portal = tab.page.locator('outhook-portal')
  await portal.getByText('There is no response from the server.').waitFor()
  await tab.page.unroute(api)
  await portal.getByRole('button', { name: 'Try again' }).click()
  await portal.getByRole('heading', { name: 'Endpoints' }).waitFor()
  await tab.close()
})

Deno.test('a token that only reads shows no action', async () => {
  const org = 'reads'
  const { outhook } = portal_
  await outhook.createEndpoint('/reads', { p_event_types: ['a.*'], p_org_id: org })
  const [event] = await outhook.sql`select outbox.publish('a.b', '{}', p_org_id => ${org}) as id`
  await outhook.attemptsOf(event?.id)
  const body = { scopes: ['endpoints:read', 'deliveries:read'] }
  const { portal, errors, close } = await portal_.open(org, { body })
  await portal.getByRole('button', { name: /\/reads$/ }).click()
  await portal.getByRole('button', { name: 'a.b' }).click()
  await portal.getByText('Attempt 1 was delivered').waitFor()
  const names = async (): Promise<string[]> =>
    (await portal.getByRole('button').allInnerTexts()).filter((name) => name !== '')
  expect(await names()).toEqual(['The endpoint'])
  await portal.getByRole('button', { name: 'The endpoint' }).click()
  await portal.getByRole('button', { name: 'a.b' }).waitFor()
  expect(await names()).toEqual(['All endpoints', 'Deliveries', 'Signature', 'a.b'])
  await portal.getByRole('button', { name: 'Signature' }).click()
  await portal.getByRole('heading', { name: 'Check the signature' }).waitFor()
  expect(await portal.getByText('Signing secret').count()).toBe(0)
  expect(errors).toEqual([])
  await close()
})

Deno.test('a token that is limited to an endpoint and a type works within its limits', async () => {
  const org = 'limited'
  const { outhook } = portal_
  const own = await outhook.createEndpoint('/own', { p_event_types: ['order.*'], p_org_id: org })
  await outhook.createEndpoint('/other', { p_event_types: ['order.*'], p_org_id: org })
  const [event] = await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => ${org}) as id`
  await outhook.attemptsOf(event?.id)
  await outhook.sql`select outbox.put_event_type(${org}, 'order.paid'),
    outbox.put_event_type(${org}, 'user.made')`
  const body = { endpointIds: [own.id], eventTypes: ['order.*'] }
  const { portal, errors, close } = await portal_.open(org, { body })
  await portal.getByRole('button', { name: /\/own$/ }).waitFor()
  expect(await portal.getByRole('button', { name: /\/other$/ }).count()).toBe(0)
  expect(await portal.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0)
  await portal.getByRole('button', { name: /\/own$/ }).click()
  await portal.getByRole('button', { name: 'order.paid' }).waitFor()
  expect(await portal.getByLabel('Event type').locator('option').allInnerTexts())
    .toEqual(['order.paid'])
  await portal.getByRole('button', { name: 'Settings', exact: true }).click()
  await portal.getByRole('checkbox', { name: 'order.*' }).waitFor()
  expect(await portal.getByRole('checkbox', { name: 'All events' }).count()).toBe(0)
  await portal.getByRole('button', { name: 'Replay failed' }).click()
  await portal.getByRole('button', { name: 'Show how many' }).click()
  await portal.getByText('Nothing has failed since then.').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('the element keeps its state when it is moved, and has texts of another language', async () => {
  const org = 'moved'
  const { page, portal, errors, close } = await portal_.open(org, { query: 'lang=de' })
  await portal.getByRole('heading', { name: 'Endpunkte' }).waitFor()
  await portal.getByRole('button', { name: 'Neu' }).click()
  await portal.getByLabel('Description').fill('kept')
  await page.evaluate(
    `document.getElementById('other').append(document.querySelector('outhook-portal'))`,
  )
  expect(await portal.getByLabel('Description').inputValue()).toBe('kept')
  expect(await page.evaluate('seen')).toEqual(['endpoints/new'])
  // Removed, it reads nothing more; added again, it begins anew.
  await page.evaluate(`globalThis.gone = document.querySelector('outhook-portal'); gone.remove()`)
  await page.evaluate(`document.getElementById('place').append(gone)`)
  await portal.getByRole('heading', { level: 2 }).waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('with routing="hash" each page has an address', async () => {
  const org = 'hash'
  await portal_.outhook.createEndpoint('/hash', { p_event_types: ['a.*'], p_org_id: org })
  const { page, portal, close } = await portal_.open(org, { query: 'routing=hash' })
  await portal.getByRole('link', { name: /\/hash$/ }).click()
  await portal.getByRole('heading', { name: /\/hash$/ }).waitFor()
  expect(page.url()).toMatch(/#\/endpoints\/[0-9a-f-]{36}$/)
  await page.goBack()
  await portal.getByRole('heading', { name: 'Endpoints' }).waitFor()
  await page.goForward()
  await page.reload()
  await portal.getByRole('heading', { name: /\/hash$/ }).waitFor()
  await close()
})

Deno.test('the hosted page takes its token from the link, removes it, and stores it nowhere', async () => {
  const { app, browser, outhook } = portal_
  const org = 'hosted'
  await outhook.createEndpoint('/hosted', { p_event_types: ['a.*'], p_org_id: org })
  app.asks = { orgId: org, body: {} }
  const { token } = await (await fetch(`${app.url}/token`, { method: 'POST' })).json()
  const built = new Map(app.files)
  for (const [name, bytes] of withApi(built, { api: outhook.stack.apiUrl, functionName: 'api' })) {
    app.files.set(name, bytes)
  }
  const tab = await openTab(browser)
  await tab.page.goto(`${app.url}/index.html#token=${token}`)
  const portal = tab.page.locator('outhook-portal')
  await portal.getByRole('button', { name: /\/hosted$/ }).waitFor()
  expect(tab.page.url()).toBe(`${app.url}/index.html`)
  const stored = await tab.page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.body.innerHTML])',
  )
  expect(String(stored)).not.toContain(token)
  await revokeAll(org)
  await portal.getByText('This link has expired. Ask for a new one.').waitFor()
  expect(await portal.getByRole('button', { name: 'Sign in again' }).count()).toBe(0)
  // A new link in the same tab, which the browser does not load again.
  const next = await (await fetch(`${app.url}/token`, { method: 'POST' })).json()
  await tab.page.goto(`${app.url}/index.html#token=${next.token}`)
  await portal.getByText('This link has expired. Ask for a new one.').waitFor({ state: 'detached' })
  await portal.getByRole('button', { name: /\/hosted$/ }).waitFor()
  expect(tab.page.url()).toBe(`${app.url}/index.html`)
  expect(tab.errors).toEqual([])
  await tab.close()
})
