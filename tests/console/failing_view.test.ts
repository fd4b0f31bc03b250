/** A view that throws, of the console and of the portal: the API sends what the page does not expect. */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { buildPage } from '../../console/build/build.ts'
import { type RunningConsole, serveConsole } from '../../console/server/serve.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startPortal, type TestPortal } from '../portal/_support/portal.ts'
import { findingsOf } from './_support/axe.ts'
import { openTab } from './_support/browser.ts'

const secret = 'whsec_of_somebody'
let portal_: TestPortal
let running: RunningConsole

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
  const { stack } = portal_.outhook
  running = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `${stack.apiUrl}/functions/v1/api`,
      secretKey: stack.keys.secretKey,
    },
    port: 0,
  })
})
Deno.test.afterAll(async () => {
  await running?.stop()
  await portal_?.stop()
})

/** Responds to requests for a path of the API with a list of rows that are none. */
async function spoil(page: Page, path: RegExp, rows: unknown[]): Promise<void> {
  await page.route(path, (route) =>
    route.fulfill({
      json: { data: rows, nextCursor: null },
      headers: { 'access-control-allow-origin': '*' },
    }))
}

/** Nothing of the error is on the page: no stack trace, and nothing of what the API has sent. */
async function saysNothingElse(page: Page): Promise<void> {
  const text = await page.locator('body').innerText()
  expect(text).not.toMatch(/TypeError|null|undefined|\bat \w+ \(|\.js:\d/)
  expect(await page.content()).not.toContain(secret)
}

Deno.test('a view of the console that throws says so in a sentence, and the rest of the page works', async () => {
  const { outhook, browser } = portal_
  await outhook.createEndpoint('/fine', { p_event_types: ['order.*'] })
  await outhook.sql`select outbox.publish('order.paid', '{}')`
  const { page, errors, close } = await openTab(browser)
  await spoil(page, /\/v1\/events(\?|$)/, [{ secret }, null])
  await page.goto(`${running.url}/events${new URL(running.newLink()).hash}`)
  await page.getByText('Something in this view failed').waitFor()
  await saysNothingElse(page)
  // Once for the tools of the browser, where a developer looks.
  expect(errors.length).toBe(1)
  expect(await findingsOf(page)).toEqual([])
  // Trying again does not help yet.
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Something in this view failed').waitFor()
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  await page.getByRole('heading', { name: 'Endpoints', level: 1 }).waitFor()
  await page.getByText('order.*').first().waitFor()
  expect(await page.getByText('Something in this view failed').count()).toBe(0)
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByText('Something in this view failed').waitFor()
  await page.unroute(/\/v1\/events(\?|$)/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  await close()
})

Deno.test('what was read stays, and a later failure says nothing of its text', async () => {
  const { outhook, browser } = portal_
  const org = 'failing-later'
  await outhook.createEndpoint('/later', { p_event_types: ['later.*'], p_org_id: org })
  const { page, close } = await openTab(browser)
  await page.goto(`${running.url}/endpoints?org=${org}${new URL(running.newLink()).hash}`)
  await page.getByText('later.*').first().waitFor()
  await page.route(/\/v1\/endpoints(\?|$)/, (route) => route.fulfill({ json: null }))
  await page.getByText(/^Something in this view failed.* What is shown is .* old\.$/).waitFor()
  await page.getByText('later.*').first().waitFor()
  await saysNothingElse(page)
  await close()
  const customer = await portal_.open(org)
  await customer.portal.getByRole('button', { name: /\/later$/ }).waitFor()
  await customer.page.route(
    /\/v1\/endpoints(\?|$)/,
    (route) => route.fulfill({ json: null, headers: { 'access-control-allow-origin': '*' } }),
  )
  await customer.portal.getByText('Something on this page failed').waitFor()
  await customer.portal.getByRole('button', { name: /\/later$/ }).waitFor()
  await saysNothingElse(customer.page)
  await customer.close()
})

Deno.test('a part of the console beside the view fails alone', async () => {
  const { page, close } = await openTab(portal_.browser)
  await page.route(/\/v1\/health/, (route) => route.fulfill({ json: null }))
  await page.goto(`${running.url}/endpoints${new URL(running.newLink()).hash}`)
  await page.getByRole('banner').getByText('Something in this view failed').waitFor()
  await page.getByText('order.*').first().waitFor()
  expect(await page.getByText('Something in this view failed').count()).toBe(1)
  await close()
})

Deno.test('a view of the portal that throws says so in a sentence, and the app gets the error', async () => {
  const { outhook } = portal_
  const org = 'failing-view'
  await outhook.createEndpoint('/mine', { p_event_types: ['order.*'], p_org_id: org })
  await outhook.sql`select outbox.put_event_type(${org}, 'order.paid', 'An order is paid')`
  const { page, portal, errors, close } = await portal_.open(org)
  await spoil(page, /\/v1\/event-types/, [{ secret, type: 5, description: '' }])
  await portal.getByRole('button', { name: 'Event types' }).click()
  await portal.getByText('Something on this page failed').waitFor()
  await saysNothingElse(page)
  expect(await findingsOf(page)).toEqual([])
  expect(await page.evaluate('seen.filter((one) => one === "error").length')).toBe(1)
  await portal.getByRole('button', { name: 'Endpoints' }).click()
  await portal.getByRole('button', { name: /\/mine$/ }).waitFor()
  expect(await portal.getByText('Something on this page failed').count()).toBe(0)
  expect(errors).toEqual([])
  // Also if it fails while it reads, before anything is drawn.
  await page.unroute(/\/v1\/event-types/)
  await spoil(page, /\/v1\/event-types/, [{ secret }, null])
  await page.reload()
  await portal.getByRole('button', { name: 'Event types' }).click()
  await portal.getByText('Something on this page failed').waitFor()
  await saysNothingElse(page)
  await close()
})
