/** The custom headers of an endpoint in the console, in a real browser against a real stack. */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { findingsOf } from './_support/axe.ts'
import { startConsole, type TestConsole } from './_support/console.ts'

let console_: TestConsole

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

const org = 'headers'
const stored = 'the-stored-value'

/** What the focus is on, once it is on something. */
async function focused(page: Page): Promise<string> {
  const one = page.locator(':focus')
  await one.waitFor()
  return await one.getAttribute('aria-label') ?? await one.innerText()
}

/** The headers that reach the receiver with the next test event. */
async function sent(id: string, names: string[]): Promise<(string | null)[]> {
  const { outhook } = console_
  const [event] = await outhook.sql`
    select outbox.publish('order.paid', '{}', p_org_id => ${org}, p_endpoint_id => ${id}) as id`
  await outhook.attemptsOf(event?.id)
  const last = outhook.receiver.received.at(-1)
  return names.map((name) => new Headers(last?.headers).get(name))
}

Deno.test('sets, replaces and removes custom headers, and never shows a stored value', async () => {
  const { outhook } = console_
  const { id } = await outhook.createEndpoint('/tenant', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
    p_headers: { 'x-tenant': stored, 'x-old': stored },
  })
  const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
  await page.getByText('x-tenant').waitFor()
  expect(await page.getByLabel('a stored value').count()).toBe(2)
  expect(await page.content()).not.toContain(stored)
  const save = page.getByRole('button', { name: 'Save' })
  expect(await save.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Remove the header x-old' }).click()
  // By keyboard alone: the focus is never on a button that is gone.
  expect(await focused(page)).toBe('Add header')
  await page.keyboard.press('Enter')
  await save.click()
  await page.getByText('Each header needs a name.').waitFor()
  await page.getByLabel('Name of the header').fill('X-Tenant')
  await page.getByLabel('Value of the header').fill('b')
  await save.click()
  await page.getByText('Two headers have the same name.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  // What else is wrong is said in the words of the API.
  await page.getByLabel('Name of the header').fill('webhook-id')
  await save.click()
  await page.getByRole('alert').getByText('headers.webhook-id is reserved.').waitFor()
  await page.getByLabel('Name of the header').fill('x-new')
  await save.click()
  await page.getByRole('button', { name: 'Replace the value of x-new' }).waitFor()
  expect(await page.getByLabel('a stored value').count()).toBe(2)
  expect(await sent(id, ['x-tenant', 'x-old', 'x-new'])).toEqual([stored, null, 'b'])
  expect(errors).toEqual([])
  await close()
})

Deno.test('another host asks for the values of the custom headers again', async () => {
  const { outhook } = console_
  const { id } = await outhook.createEndpoint('/moved', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
    p_headers: { 'x-tenant': stored, 'x-old': stored },
  })
  const { page, errors, close } = await console_.open(`/endpoints/${id}?org=${org}`)
  const url = page.getByLabel('URL', { exact: true })
  const other = (await url.inputValue()).replace('127.0.0.1', 'localhost')
  const hint = page.getByText('The URL leads to another host')
  await url.fill(other)
  await hint.waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  // The API refuses to send a value to a host for which it was not set.
  await page.getByRole('alert').getByText('headers lacks x-old, x-tenant').waitFor()
  await page.getByRole('button', { name: 'Remove the header x-old' }).click()
  await page.getByRole('button', { name: 'Replace the value of x-tenant' }).click()
  await hint.waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Value of the header 1')
  await page.getByLabel('Value of the header').fill('for the other host')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: /localhost.*\/moved$/, level: 1 }).waitFor()
  const [row] = await outhook.sql`
    select url = ${other} as moved, header_names from outbox.endpoint where id = ${id}`
  expect(row).toEqual({ moved: true, header_names: ['x-tenant'] })
  expect(errors).toEqual([])
  await close()
})
