/** Each view in a real browser: accessible, safe with any text, and clear when something is missing. */

import { expect } from '@std/expect'
import { serveConsole } from '../../console/server/serve.ts'
import { buildPage } from '../../console/build/build.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { findingsOf } from './_support/axe.ts'
import { openTab } from './_support/browser.ts'
import { startConsole, type TestConsole } from './_support/console.ts'
import { makeSample, type Sample } from './_support/sample.ts'
import { dialogsOf, hostile, makeHostileSample, viewsOf } from './_support/views.ts'

let console_: TestConsole
let sample: Sample

Deno.test.beforeAll(async () => {
  console_ = await startConsole()
  sample = await makeSample(console_.outhook)
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

const desktop = { width: 1280, height: 900 }
const phone = { width: 390, height: 844 }
const screens = [
  ['a desktop', 'light', desktop],
  ['a desktop', 'dark', desktop],
  ['a phone', 'light', phone],
  ['a phone', 'dark', phone],
] as const

for (const [device, theme, viewport] of screens) {
  Deno.test(`axe-core finds nothing in any view, ${theme} on ${device}`, async () => {
    const { page, errors, close } = await console_.open('/', { theme, viewport })
    const found: string[] = []
    for (const { name, path, ready } of viewsOf(sample)) {
      await page.goto(console_.running.url + path)
      await ready(page)
      for (const finding of await findingsOf(page)) found.push(`${name}: ${finding}`)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      // Nothing but tables scrolls sideways.
      expect([name, width]).toEqual([name, viewport.width])
    }
    expect(found).toEqual([])
    expect(errors).toEqual([])
    await close()
  })
}

Deno.test('each view has the command that gives what it shows', async () => {
  const { page, errors, close } = await console_.open('/')
  const without: string[] = []
  for (const { name, path, ready } of viewsOf(sample)) {
    await page.goto(console_.running.url + path)
    await ready(page)
    if (await page.getByRole('button', { name: 'Copy as curl' }).count() === 0) without.push(name)
  }
  expect(without).toEqual([])
  expect(errors).toEqual([])
  await close()
})

/** What a desktop of 1280 pixels shows at 200 %. */
const half = { width: 640, height: 450 }

Deno.test('no view scrolls sideways at 200 %', async () => {
  const { page, errors, close } = await console_.open('/', { viewport: half })
  for (const { name, path, ready } of viewsOf(sample)) {
    await page.goto(console_.running.url + path)
    await ready(page)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect([name, width]).toEqual([name, half.width])
  }
  expect(errors).toEqual([])
  await close()
})

Deno.test('axe-core finds nothing in the dialogs', async () => {
  for (const [, theme, viewport] of screens) {
    const { page, errors, close } = await console_.open('/', { theme, viewport })
    for (const { path, opener, label } of dialogsOf(sample)) {
      await page.goto(console_.running.url + path)
      await page.getByRole('button', { name: opener }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: label }).waitFor()
      expect([opener, await findingsOf(page)]).toEqual([opener, []])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    expect(await findingsOf(page)).toEqual([])
    expect(errors).toEqual([])
    await close()
  }
})

Deno.test('hostile text is shown as text in every view', async () => {
  const { org, event, views } = await makeHostileSample(console_.outhook)
  for (
    const [device, theme, viewport] of [...screens, ['a page at 200 %', 'light', half]] as const
  ) {
    const { page, errors, close } = await console_.open(`/?org=${org}`, { theme, viewport })
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs++
      void dialog.dismiss()
    })
    for (const { name, path, ready } of views) {
      await page.goto(console_.running.url + path)
      await ready(page)
      const made = await page.locator('img[src="x"], svg[onload], main script').count()
      const width = await page.evaluate('document.documentElement.scrollWidth')
      const found = viewport === half ? [] : await findingsOf(page)
      expect([device, name, made, width, found]).toEqual([device, name, 0, viewport.width, []])
    }
    await page.goto(`${console_.running.url}/events/${event}?org=${org}`)
    await page.getByText('Response', { exact: true }).click()
    await page.getByText(`${hostile}<script>alert(1)</script>`).waitFor()
    await page.getByText('"\\u202egnp"', { exact: true }).waitFor()
    // The request that is rebuilt has it too.
    await page.getByText('Request', { exact: true }).click()
    await page.locator('pre[aria-label="Request"]', { hasText: '\\u202egnp' }).waitFor()
    const answer = encodeURIComponent(hostile)
    await page.goto(`${console_.running.url}/events?org=${org}&by=correlation&q=${answer}`)
    await page.getByRole('link', { name: 'evil.made' }).waitFor()
    expect([dialogs, errors]).toEqual([0, []])
    await close()
  }
})

Deno.test('the token leaves the address at once and is stored nowhere', async () => {
  const tab = await openTab(console_.browser)
  const link = console_.running.newLink()
  const token = new URL(link).hash.replace('#token=', '')
  await tab.page.goto(link)
  await tab.page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(tab.page.url()).toBe(`${console_.running.url}/`)
  const stored = await tab.page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  expect(stored).not.toContain(token)
  expect(stored).toBe('[{},{},""]')
  // The same link does not open another browser.
  const other = await openTab(console_.browser)
  await other.page.goto(link)
  await other.page.getByRole('heading', { name: 'The console is locked' }).waitFor()
  expect(await findingsOf(other.page)).toEqual([])
  await other.close()
  // The one that has the cookie stays open after a reload.
  await tab.page.reload()
  await tab.page.getByRole('heading', { name: 'Overview' }).waitFor()
  await tab.close()
})

Deno.test('keeps the last data with its age while the API is down, and goes on after that', async () => {
  const api = `${console_.outhook.stack.apiUrl}/functions/v1/api`
  let isDown = false
  // In front of the API, so that it can end while the others go on.
  const front = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen(): void {} }, (request) => {
    const { pathname, search } = new URL(request.url)
    if (isDown) return new Response('down', { status: 503 })
    return fetch(api + pathname + search, { method: request.method, headers: request.headers })
  })
  const running = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `http://127.0.0.1:${front.addr.port}`,
      secretKey: console_.outhook.stack.keys.secretKey,
    },
    port: 0,
  })
  const tab = await openTab(console_.browser)
  await tab.page.goto(running.newLink())
  await tab.page.getByText('Endpoints with work').waitFor()
  isDown = true
  await tab.page.getByText(/What is shown is .* old/).first().waitFor()
  await tab.page.getByText('API does not respond').waitFor()
  expect(await tab.page.getByText('Endpoints with work').isVisible()).toBe(true)
  isDown = false
  await tab.page.getByText(/What is shown is .* old/).first().waitFor({ state: 'detached' })
  expect(tab.errors).toEqual([])
  await tab.close()
  await running.stop()
  await front.shutdown()
})

Deno.test('a hidden tab reads nothing, and reads again when it is shown', async () => {
  const { page, close } = await console_.open('/')
  await page.getByText('Endpoints with work').waitFor()
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/')) requests++
  })
  const show = (visibility: string): Promise<unknown> =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', {
        value: '${visibility}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  await show('hidden')
  // What was already on its way.
  await page.waitForLoadState('networkidle')
  requests = 0
  // More than two intervals of polling.
  await page.waitForTimeout(5000)
  expect(requests).toBe(0)
  const next = page.waitForRequest(/\/api\/v1\/overview/)
  await show('visible')
  await next
  await close()
})

Deno.test('an organisation without endpoints teaches how to create one', async () => {
  const { page, close } = await console_.open('/?org=nobody')
  await page.getByText(`select outbox.create_endpoint`).waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'Dead letters' }).click()
  await page.getByText('There is no dead letter here').waitFor()
  expect(page.url()).toContain('org=nobody')
  await close()
})

Deno.test('times are those of the place or UTC, as chosen, also after a reload', async () => {
  const { page, close } = await console_.open('/events')
  const first = page.getByRole('row').nth(1).locator('time')
  await first.waitFor()
  const iso = await first.getAttribute('datetime') ?? ''
  const clock = (timeZone: string): string =>
    new Intl.DateTimeFormat('en-GB', {
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone },
    }).format(new Date(iso))
  const cell = page.locator(`time[datetime="${iso}"]`).first()
  await cell.filter({ hasText: clock('Europe/Berlin') }).waitFor()
  await page.keyboard.press('z')
  await cell.filter({ hasText: clock('UTC') }).waitFor()
  await page.getByRole('button', { name: 'Times: UTC' }).waitFor()
  await page.reload()
  await page.locator(`time[datetime="${iso}"]`).first().filter({ hasText: clock('UTC') }).waitFor()
  await page.getByRole('button', { name: 'Times: UTC' }).click()
  await page.getByRole('button', { name: 'Times: local' }).waitFor()
  await close()
})

Deno.test('the help names a key for each page of the navigation, and each goes there', async () => {
  const { page, close } = await console_.open('/')
  const links = page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link')
  const names = await links.allTextContents()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog')
  await help.waitFor()
  const rows = await help.locator('dl > div').allTextContents()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  for (const name of names) {
    const key = rows.find((row) => row.startsWith('g') && row.endsWith(name))?.[1]
    expect([name, key]).toEqual([name, expect.stringMatching(/^[a-z]$/)])
    await page.keyboard.press('g')
    await page.keyboard.press(key ?? '')
    await page.locator('nav a[aria-current="page"]', { hasText: name }).first().waitFor()
  }
  await close()
})

Deno.test('a missing object and a missing page say so', async () => {
  const { page, close } = await console_.open('/')
  const none = '01a2203a-0510-79a1-bb91-f1e06b0cb7a6'
  for (
    const [path, text] of [
      [`/events/${none}`, 'There is no such event'],
      ['/events/x', 'There is no such event'],
      [`/endpoints/${none}`, 'There is no such endpoint'],
      [`/dead-letters/${none}`, 'There is no such dead letter'],
      ['/replays/999', 'There is no such job'],
      ['/nothing', 'There is no such page'],
    ] as const
  ) {
    await page.goto(console_.running.url + path)
    await page.getByRole('heading', { name: text }).waitFor()
  }
  await close()
})
