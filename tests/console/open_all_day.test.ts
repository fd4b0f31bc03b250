/** A page that is left open reads again and again, and does not grow. */

import { expect } from '@std/expect'
import type { CDPSession, Page } from 'playwright-core'
import { startPortal, type TestPortal } from '../portal/_support/portal.ts'
import { openTab } from './_support/browser.ts'
import { consoleOn, type TestConsole } from './_support/console.ts'
import { makeSample } from './_support/sample.ts'

interface OpenPage {
  name: string
  url(): string
  /** A text that the page shows when it has read everything. */
  shown: string
  /** The end of the path of the route that it reads again. */
  route: string
  everyMs: number
  /** In a day are 17,280 of 5 s. What grows shows after a hundred. */
  polls: number
  /** How many elements may come and go as time passes. */
  changing: number
}

let portal_: TestPortal
let console_: TestConsole

Deno.test.beforeAll(async () => {
  portal_ = await startPortal()
  console_ = await consoleOn(portal_.outhook, portal_.stop)
  await makeSample(portal_.outhook)
})
Deno.test.afterAll(async () => {
  await (console_ ?? portal_)?.stop()
})

const consoleAt = (path: string): string =>
  `${console_.running.url}${path}${new URL(console_.running.newLink()).hash}`

const pages: readonly OpenPage[] = [
  {
    ...{ name: 'the list of events', url: () => consoleAt('/events'), shown: 'stock.changed' },
    ...{ route: '/v1/events', everyMs: 5000, polls: 2000, changing: 0 },
  },
  {
    ...{ name: 'the overview', url: () => consoleAt('/'), shown: 'Endpoints with work' },
    // The table of the chart has a row for each time with attempts.
    ...{ route: '/v1/overview', everyMs: 5000, polls: 500, changing: 50 },
  },
  {
    ...{ name: 'the portal', url: () => portal_.app.url, shown: 'The shop of Ada' },
    // After an hour there is a banner for each of the two that fail.
    ...{ route: '/v1/endpoints', everyMs: 10_000, polls: 500, changing: 10 },
  },
]

/** The elements of the page, and its heap in bytes after a collection. */
async function measure(page: Page, cdp: CDPSession): Promise<{ nodes: number; heap: number }> {
  await cdp.send('HeapProfiler.collectGarbage')
  const { metrics } = await cdp.send('Performance.getMetrics')
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
  return { nodes: await page.locator('*').count(), heap }
}

for (const { name, url, shown, route, everyMs, polls, changing } of pages) {
  Deno.test(`a page that is left open does not grow: ${name}`, async () => {
    portal_.app.asks = { orgId: 'default', body: {} }
    const tab = await openTab(console_.browser)
    const { page } = tab
    await page.clock.install()
    const isPoll = (request: { url(): string }): boolean =>
      new URL(request.url()).pathname.endsWith(route)
    let answered = 0
    page.on('requestfinished', (request) => {
      if (isPoll(request)) answered++
    })
    await page.goto(url())
    await page.getByText(shown).first().waitFor()
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Performance.enable')
    const poll = async (): Promise<void> => {
      const next = page.waitForEvent('requestfinished', isPoll)
      await page.clock.runFor(everyMs)
      await next
    }
    for (let i = 0; i < 20; i++) await poll()
    const before = await measure(page, cdp)
    const from = answered
    for (let i = 0; i < polls; i++) await poll()
    const after = await measure(page, cdp)
    expect(answered - from).toBeGreaterThanOrEqual(polls)
    expect(Math.abs(after.nodes - before.nodes)).toBeLessThanOrEqual(changing)
    // The heap breathes; what each poll left behind would be more.
    expect(after.heap - before.heap).toBeLessThan(5_000_000)
    expect(tab.errors).toEqual([])
    await tab.close()
  })
}
