import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { ensurePrograms } from '../../_support/programs.ts'

/** A page, and what its console said that is an error. */
export interface Tab {
  page: Page
  /** Errors of scripts and violations of the policy; failed requests are not among them. */
  errors: string[]
  close(): Promise<void>
}

export interface TabOptions {
  theme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
}

/** Debian's Chromium, without a window. */
export async function startBrowser(): Promise<Browser> {
  const program = 'chromium'
  await ensurePrograms({ programs: [program], log: () => {} })
  return await chromium.launch({
    executablePath: `/usr/bin/${program}`,
    // In a container there is no user namespace for its sandbox, and no large /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
}

/** A tab of its own, with no cookie of another. */
export async function openTab(browser: Browser, options: TabOptions = {}): Promise<Tab> {
  const context: BrowserContext = await browser.newContext({
    viewport: options.viewport ?? { width: 1280, height: 900 },
    colorScheme: options.theme ?? 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    const isRequest = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isRequest) errors.push(message.text())
  })
  return { page, errors, close: () => context.close() }
}
