/** What the portal tells a customer about a test event, in each of its outcomes. */

import { expect } from '@std/expect'
import { findingsOf } from '../console/_support/axe.ts'
import { closed, startPortal, type TestPortal } from './_support/portal.ts'

let portal_: TestPortal

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
})
Deno.test.afterAll(async () => {
  await portal_?.stop()
})

type Opened = Awaited<ReturnType<TestPortal['open']>> & { id: string }

/** Opens the view of a new endpoint. */
async function openEndpoint(org: string, path: string): Promise<Opened> {
  const { id } = await portal_.outhook.createEndpoint(path, {
    ...{ p_event_types: ['order.*'], p_org_id: org },
  })
  const query = `page=${encodeURIComponent(`endpoints/${id}`)}`
  return { ...await portal_.open(org, { query }), id }
}

/** Sends a test event, and gives the text of the dialog with its result. */
async function resultOf({ page, portal }: Opened): Promise<string> {
  await portal.getByRole('button', { name: 'Send test event' }).click()
  const dialog = page.getByRole('dialog', { name: 'Result of the test event' })
  await dialog.getByText('event type is outhook.test').waitFor()
  expect(await findingsOf(page)).toEqual([])
  const text = await dialog.innerText()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await closed(page)
  return text
}

Deno.test('a customer reads that the endpoint has accepted the test event, and what it got', async () => {
  const tab = await openEndpoint('accepts', '/ok')
  const text = await resultOf(tab)
  expect(text).toMatch(/^delivered$/m)
  expect(text).toContain('HTTP 200')
  expect(text).toContain('Your endpoint has accepted it.')
  expect(text).toContain('Its event type is outhook.test, and its payload is {"test": true}.')
  expect(tab.errors).toEqual([])
  await tab.close()
})

Deno.test('a customer reads that a test event has failed, and when it is tried again', async () => {
  const tab = await openEndpoint('fails', '/status/500')
  const text = await resultOf(tab)
  expect(text).toMatch(/^failed$/m)
  expect(text).toContain('HTTP 500')
  expect(text).toMatch(/The last attempt failed, and it is tried again\. Next attempt .+\./)
  expect(tab.errors).toEqual([])
  await tab.close()
})

Deno.test('a customer reads that a failed test event is not tried again, beside what the endpoint said', async () => {
  const tab = await openEndpoint('refuses', '/ok')
  await tab.page.route('**/test?*', async (route) => {
    const response = await route.fetch()
    const change = { outcome: 'dead_letter', status: 422, response: 'no such shop' }
    await route.fulfill({ response, json: { ...await response.json(), ...change } })
  })
  const text = await resultOf(tab)
  expect(text).toMatch(/^failed$/m)
  expect(text).toContain('It is not tried again.')
  expect(text).toMatch(/^Response\s+no such shop$/m)
  expect(tab.errors).toEqual([])
  await tab.close()
})

Deno.test('a customer reads where to look for a test event without a response', async () => {
  const tab = await openEndpoint('waits', '/ok')
  await tab.page.route('**/test?*', async (route) => {
    const response = await route.fetch()
    const nothing = { outcome: 'pending', status: null, durationMs: null, response: null }
    await route.fulfill({ response, json: { ...await response.json(), ...nothing } })
  })
  const text = await resultOf(tab)
  expect(text).toMatch(/^pending$/m)
  expect(text).toContain(
    'There is no response after 20 s. It may still come: look for outhook.test in the deliveries ' +
      'of this endpoint.',
  )
  expect(tab.errors).toEqual([])
  await tab.close()
})

Deno.test('a customer reads why no test event is sent, without names of the database', async () => {
  const { outhook } = portal_
  const tab = await openEndpoint('stopped', '/ok')
  const button = tab.portal.getByRole('button', { name: 'Send test event' })
  const said = tab.portal.getByRole('alert')
  // The page still shows the button, because it has not read the endpoint again.
  await outhook.admin`update outbox.gate set breaker = 'open' where endpoint_id = ${tab.id}`
  await button.click()
  await said.filter({ hasText: 'This endpoint has failed too often' }).waitFor()
  await outhook.sql`select outbox.pause_endpoint(${tab.id})`
  await button.click()
  await said.filter({ hasText: 'This endpoint is paused or disabled. Resume it' }).waitFor()
  expect(await said.innerText()).not.toMatch(/outbox|breaker|_endpoint/)
  expect(tab.errors.filter((error) => !/\b409\b/.test(error))).toEqual([])
  await tab.close()
})
