import type { Browser, Locator, Page } from 'playwright-core'
import { buildPage } from '../../../console/build/build.ts'
import { serveConsole } from '../../../console/server/serve.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { openTab } from '../../console/_support/browser.ts'
import { startPortal } from '../../portal/_support/portal.ts'

/** The times in ms from navigation to the first control that can be used, each with a cold cache. */
export interface LoadTimes extends Record<string, number[]> {
  console: number[]
  portal: number[]
}

/** Opens both pages `times` times, each in a browser context of its own, on a stack of its own. */
export async function loadTimes(times: number): Promise<LoadTimes> {
  const portal_ = await startPortal()
  const { outhook, app, browser } = portal_
  const running = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `${outhook.stack.apiUrl}/functions/v1/api`,
      secretKey: outhook.stack.keys.secretKey,
    },
    port: 0,
  })
  try {
    await outhook.createEndpoint('/load', { p_event_types: ['order.*'] })
    const result: LoadTimes = { console: [], portal: [] }
    // The first one warms the server of the stack, not the browser.
    for (let n = 0; n <= times; n++) {
      const link = `${running.url}/${new URL(running.newLink()).hash}`
      const ofConsole = await timeOf(
        browser,
        link,
        (page) => page.getByRole('navigation').getByRole('link', { name: 'Events' }),
      )
      const ofPortal = await timeOf(
        browser,
        app.url,
        (page) => page.locator('outhook-portal').getByRole('button', { name: 'Add endpoint' }),
      )
      if (n === 0) continue
      result.console.push(ofConsole)
      result.portal.push(ofPortal)
    }
    return result
  } finally {
    await running.stop()
    await portal_.stop()
  }
}

async function timeOf(
  browser: Browser,
  url: string,
  control: (page: Page) => Locator,
): Promise<number> {
  const { page, close } = await openTab(browser)
  const startedAt = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  // Visible, enabled, still, and not covered by anything: a click would reach it.
  await control(page).click({ trial: true })
  const ms = performance.now() - startedAt
  await close()
  return ms
}
