import type { Browser, Locator, Page } from 'playwright-core'
import { buildPortal } from '../../../portal/build/build.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { startOuthook, type TestOuthook } from '../../_support/outhook.ts'
import { patienceMs } from '../../_support/patience.ts'
import { openTab, startBrowser, type Tab, type TabOptions } from '../../console/_support/browser.ts'
import { alsoRepaired } from '../../console/_support/sample.ts'
import { type SampleApp, startSampleApp } from './sample_app.ts'

/** The sample app with the portal, on a stack of the test's own, and a browser. */
export interface TestPortal {
  outhook: TestOuthook
  app: SampleApp
  browser: Browser
  /** Opens the app as a customer of an organisation, with a token for `body`. */
  open(
    orgId: string,
    options?: TabOptions & { body?: Record<string, unknown>; query?: string },
  ): Promise<Tab & { portal: Locator }>
  stop(): Promise<void>
}

export async function startPortal(): Promise<TestPortal> {
  const app = await startSampleApp(await buildPortal(projectRoot))
  const outhook = await startOuthook({
    only: ['deliver', 'api'],
    also: alsoRepaired,
    env: { OUTHOOK_API_CORS_ORIGINS: app.url },
  })
  app.connect(outhook.stack.apiUrl, outhook.stack.keys.secretKey)
  const browser = await startBrowser()
  return {
    outhook,
    app,
    browser,
    async open(
      orgId,
      { body = {}, query = '', ...options } = {},
    ): Promise<Tab & { portal: Locator }> {
      app.asks = { orgId, body }
      app.isDown = false
      app.reasons.length = 0
      const tab = await openTab(browser, options)
      await tab.page.goto(`${app.url}/?${query}`)
      const portal = tab.page.locator('outhook-portal')
      await portal.getByRole('heading', { level: 2 }).waitFor()
      return { ...tab, portal }
    },
    async stop(): Promise<void> {
      await browser.close()
      await outhook.stop()
      await app.stop()
    },
  }
}

/** Waits until a condition holds; the error names it. */
export async function until(what: string, condition: () => unknown): Promise<void> {
  const isTrue = async (): Promise<boolean> => Boolean(await condition())
  if (await waitUntil(isTrue, { timeoutMs: patienceMs })) return
  throw new Error(`it never came true: ${what}`)
}

/** Waits until no dialog is open, before the next key or click. */
export async function closed(page: Page): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
