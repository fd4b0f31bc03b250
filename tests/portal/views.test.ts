/** Each view of the portal: accessible on two screens, and safe with any text. */

import { expect } from '@std/expect'
import type { Locator } from 'playwright-core'
import { join } from 'node:path'
import { cataloguePage } from '../../portal/catalogue/page.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { findingsOf } from '../console/_support/axe.ts'
import { openTab } from '../console/_support/browser.ts'
import { receivers } from '../console/_support/sample.ts'
import { startPortal, type TestPortal, until } from './_support/portal.ts'
import { dialogs, viewsOf } from './_support/views.ts'

let portal_: TestPortal

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
  receivers.areRepaired = false
})
Deno.test.afterAll(async () => {
  await portal_?.stop()
})

const desktop = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }
const screens = [
  ['a desktop', 'light', desktop],
  ['a desktop', 'dark', desktop],
  ['a phone', 'light', phone],
  ['a phone', 'dark', phone],
  // What a desktop of 1280 pixels shows.
  ['a desktop at 200 %', 'light', { width: 640, height: 450 }],
] as const

for (const [device, theme, viewport] of screens) {
  Deno.test(`axe-core finds nothing in any view, ${theme} on ${device}`, async () => {
    const org = `axe-${theme}-${viewport.width}`
    const found: string[] = []
    for (const { name, path, ready } of await viewsOf(portal_.outhook, org)) {
      const { page, portal, errors, close } = await portal_.open(org, {
        ...{ theme, viewport, query: `page=${encodeURIComponent(path)}` },
      })
      await ready(portal)
      for (const finding of await findingsOf(page)) found.push(`${name}: ${finding}`)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      // Nothing but tables and code scrolls sideways.
      expect([name, width, errors]).toEqual([name, viewport.width, []])
      const opener = dialogs[name]
      if (opener !== undefined) {
        await portal.getByRole('button', { name: opener, exact: true }).first().click()
        await page.getByRole('dialog').waitFor()
        for (const finding of await findingsOf(page)) found.push(`${opener}: ${finding}`)
      }
      await close()
    }
    expect(found).toEqual([])
  })
}

Deno.test('the catalogue as static HTML is accessible, and loads its style under its own policy', async () => {
  const { app, browser } = portal_
  const schema = {
    ...{ type: 'object', required: ['id'] },
    properties: { id: { type: 'integer', description: 'x'.repeat(300) } },
  }
  const times = { createdAt: '2026-03-01T12:00:00Z', updatedAt: '2026-03-01T12:00:00Z' }
  const page = cataloguePage([
    { type: 'order.paid', description: 'An order is paid', schema, ...times },
    { type: 'order.sent', description: '', schema: null, ...times },
  ], 'Events of the shop')
  app.files.set('index.html', new TextEncoder().encode(page))
  app.files.set(
    'catalogue.css',
    await Deno.readFile(join(projectRoot, 'portal/catalogue/catalogue.css')),
  )
  for (const [, theme, viewport] of screens) {
    const tab = await openTab(browser, { theme, viewport })
    await tab.page.goto(`${app.url}/index.html`)
    await tab.page.getByRole('link', { name: 'order.paid' }).click()
    await tab.page.getByRole('heading', { name: 'order.paid' }).waitFor()
    expect(await findingsOf(tab.page)).toEqual([])
    const width = await tab.page.evaluate('document.documentElement.scrollWidth')
    expect([width, tab.errors]).toEqual([viewport.width, []])
    await tab.close()
  }
})

const hostile = '<img/src=x/onerror=alert(1)>'

Deno.test('hostile text is shown as text in every view', async () => {
  const { outhook } = portal_
  const org = 'hostile'
  const { id } = await outhook.createEndpoint('/status/404?a="><script>alert(1)</script>', {
    ...{ p_event_types: ['evil.*'], p_org_id: org, p_headers: { 'x-evil': hostile } },
    p_description: `${hostile}"'\u202etxt`,
  })
  await outhook.sql`select outbox.put_event_type(${org}, 'evil.made', ${hostile}, ${
    JSON.stringify({ title: hostile, examples: [{ [hostile]: hostile }] })
  }::text::json)`
  const [event] = await outhook.sql`
    select outbox.publish('evil.made', ${
    outhook.sql.json({ [hostile]: '</script><svg onload=alert(1)>', d: '\u202egnp' })
  }, p_org_id => ${org}) as id`
  await outhook.attemptsOf(event?.id)
  await outhook.sql`
    update outbox.attempt set error = ${hostile}, response = ${`${hostile}<script>alert(1)</script>`}
    where event_id = ${event?.id}`
  await outhook.sql`select outbox.pause_endpoint(${id}, ${hostile})`
  const off = await outhook.createEndpoint('/off?a="><script>', {
    ...{ p_event_types: ['evil.*'], p_org_id: org },
  })
  await outhook.sql`select outbox.disable_endpoint(${off.id}, ${`off ${hostile}`})`
  const [job] = await outhook.admin`
    insert into outbox.replay_job (org_id, endpoint_id, event_type, error, status, failed_to,
      rate_per_second, created_at, finished_at)
    values (${org}, ${id}, ${hostile}, ${hostile}, 'paused', now(), 50, now(), null) returning id`
  const { page, portal, errors, close } = await portal_.open(org)
  let dialogs = 0
  page.on('dialog', (dialog) => {
    dialogs++
    void dialog.dismiss()
  })
  const go = (path: string, seen: Locator): Promise<void> =>
    page.evaluate(
      `{ const old = document.querySelector('outhook-portal')
         const next = document.createElement('outhook-portal')
         for (const { name, value } of old.attributes) next.setAttribute(name, value)
         next.setAttribute('page', ${JSON.stringify(path)})
         next.token = old.token
         old.replaceWith(next) }`,
    ).then(() => seen.waitFor())
  await portal.getByText(`${hostile}"'\\u202etxt`).waitFor()
  // The banner of the other one.
  await portal.getByText(`off ${hostile}`).waitFor()
  await go(`endpoints/${id}`, portal.getByRole('button', { name: 'evil.made' }))
  await portal.getByText(hostile, { exact: true }).waitFor()
  await go(`endpoints/${id}/settings`, portal.getByText('x-evil'))
  await go(`endpoints/${id}/replay`, portal.getByText('Show how many'))
  await go(`endpoints/${id}/replay/${job?.id}`, portal.getByText('We have paused this replay.'))
  await go('event-types/evil.made', portal.locator('pre[aria-label="Schema"]'))
  await go(`deliveries/${event?.id}.${id}`, portal.getByText('\\u202egnp'))
  await portal.getByText('Response', { exact: true }).click()
  await portal.getByText(`${hostile}<script>alert(1)</script>`).waitFor()
  expect(await portal.locator('img, svg, script').count()).toBe(0)
  expect([dialogs, errors]).toEqual([0, []])
  await close()
})

Deno.test('a customer creates an endpoint by the keyboard alone', async () => {
  const { outhook } = portal_
  const org = 'keys'
  const { page, portal, close } = await portal_.open(org)
  await portal.getByRole('button', { name: 'Add your first endpoint' }).focus()
  await page.keyboard.press('Enter')
  await portal.getByRole('heading', { name: 'Add endpoint' }).waitFor()
  await portal.getByLabel('URL', { exact: true }).focus()
  await page.keyboard.type(`${outhook.receiver.url}/keys`)
  await page.keyboard.press('Tab')
  await page.keyboard.type('Typed')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  expect(await portal.getByRole('checkbox', { name: 'All events' }).isChecked()).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await portal.getByRole('heading', { name: 'Check the signature' }).waitFor()
  await until('the endpoint is there', async () => {
    const [row] = await outhook.sql`
      select description from outbox.endpoint where org_id = ${org}`
    return row?.description === 'Typed'
  })
  await close()
})
