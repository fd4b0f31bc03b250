import type { Browser } from 'playwright-core'
import { buildPage } from '../../../console/build/build.ts'
import { type RunningConsole, serveConsole } from '../../../console/server/serve.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { startOuthook, type TestOuthook } from '../../_support/outhook.ts'
import { alsoRepaired } from './sample.ts'
import { openTab, startBrowser, type Tab, type TabOptions } from './browser.ts'

/** The console on a stack of the test's own, and a browser. */
export interface TestConsole {
  outhook: TestOuthook
  running: RunningConsole
  browser: Browser
  /** Opens a path in a tab of its own, by a new link. */
  open(path: string, options?: TabOptions): Promise<Tab>
  stop(): Promise<void>
}

export async function startConsole(): Promise<TestConsole> {
  return await consoleOn(await startOuthook({ only: ['deliver', 'api'], also: alsoRepaired }))
}

/** The console of a stack that is there already. `stop` ends that, too. */
export async function consoleOn(
  outhook: TestOuthook,
  stop: () => Promise<void> = outhook.stop,
): Promise<TestConsole> {
  const running = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `${outhook.stack.apiUrl}/functions/v1/api`,
      secretKey: outhook.stack.keys.secretKey,
    },
    port: 0,
  })
  const browser = await startBrowser()
  return {
    outhook,
    running,
    browser,
    async open(path, options): Promise<Tab> {
      const tab = await openTab(browser, options)
      const { hash } = new URL(running.newLink())
      await tab.page.goto(`${running.url}${path}${hash}`)
      await tab.page.getByRole('heading', { level: 1 }).waitFor()
      return tab
    },
    async stop(): Promise<void> {
      await browser.close()
      await running.stop()
      await stop()
    },
  }
}
