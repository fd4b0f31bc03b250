/** A page that is left open reads again and again, and does not grow. */

import { expect } from '@std/expect'
import type { CDPSession, Page } from 'playwright-core'
import { openTab } from './_support/browser.ts'
import { startConsole } from './_support/console.ts'
import { makeSample } from './_support/sample.ts'

/** In a day are 17,280 of them. What grows shows after a hundred. */
const polls = 2_000

/** The elements of the page, and its heap in bytes after a collection. */
async function measure(page: Page, cdp: CDPSession): Promise<{ nodes: number; heap: number }> {
  await cdp.send('HeapProfiler.collectGarbage')
  const { metrics } = await cdp.send('Performance.getMetrics')
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
  return { nodes: await page.locator('*').count(), heap }
}

Deno.test('a page that is left open does not grow', async () => {
  const console_ = await startConsole()
  try {
    await makeSample(console_.outhook)
    const tab = await openTab(console_.browser)
    const { page } = tab
    await page.clock.install()
    let answered = 0
    page.on('requestfinished', (request) => {
      if (request.url().includes('/api/v1/events')) answered++
    })
    const { hash } = new URL(console_.running.newLink())
    await page.goto(`${console_.running.url}/events${hash}`)
    await page.getByText('stock.changed').first().waitFor()
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('Performance.enable')
    const poll = async (): Promise<void> => {
      const next = page.waitForEvent(
        'requestfinished',
        (request) => request.url().includes('/api/v1/events'),
      )
      await page.clock.runFor(5000)
      await next
    }
    for (let i = 0; i < 20; i++) await poll()
    const before = await measure(page, cdp)
    const from = answered
    for (let i = 0; i < polls; i++) await poll()
    const after = await measure(page, cdp)
    expect(answered - from).toBeGreaterThanOrEqual(polls)
    expect(after.nodes).toBe(before.nodes)
    // The heap breathes; what each poll left behind would be more.
    expect(after.heap - before.heap).toBeLessThan(5_000_000)
    expect(tab.errors).toEqual([])
    await tab.close()
  } finally {
    await console_.stop()
  }
})
