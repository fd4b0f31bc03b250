/** The console and the portal of an organisation with very many endpoints. */

import { expect } from '@std/expect'
import type { Page } from 'playwright-core'
import { buildPage } from '../../console/build/build.ts'
import { serveConsole } from '../../console/server/serve.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startPortal } from '../portal/_support/portal.ts'
import { findingsOf } from './_support/axe.ts'
import { openTab } from './_support/browser.ts'

const endpoints = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 300 : 5_000
const org = 'many'

/** The requests to the API that a page makes, by path. */
function requestsOf(page: Page): string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.includes('/v1/')) paths.push(pathname.replace(/^.*\/v1/, ''))
  })
  return paths
}

Deno.test('the console and the portal read many endpoints page by page', async () => {
  const portal_ = await startPortal()
  const { outhook, browser } = portal_
  const running = serveConsole({
    files: await buildPage(projectRoot),
    upstream: {
      url: `${outhook.stack.apiUrl}/functions/v1/api`,
      secretKey: outhook.stack.keys.secretKey,
    },
    port: 0,
  })
  try {
    await outhook.sql`
      select outbox.set_org_setting(${org}, 'limit.endpoints', to_jsonb(${endpoints}::int))`
    await outhook.sql`
      select outbox.create_endpoint('https://example.com/hooks/' || n, '{order.*}',
        p_org_id => ${org}, p_description => 'Customer ' || n)
      from generate_series(1, ${endpoints}::int) n`
    const tab = await openTab(browser)
    const { page } = tab
    const read = requestsOf(page)
    await page.goto(`${running.url}/endpoints?org=${org}${new URL(running.newLink()).hash}`)
    await page.getByText(`Customer ${endpoints}`, { exact: true }).waitFor()
    await page.getByText('50 rows of more, newest first').waitFor()
    expect(await page.getByRole('row').count()).toBe(51)
    // One page, and not a request for each endpoint.
    expect(read.filter((path) => path === '/endpoints').length).toBeLessThan(5)
    expect(read.filter((path) => path.startsWith('/endpoints/'))).toEqual([])
    await page.getByRole('button', { name: 'Load older' }).click()
    await page.getByText('100 rows of more, newest first').waitFor()
    await page.goto(`${running.url}/?org=${org}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText(/All is well|No endpoint has a problem/).first().waitFor()
    expect(tab.errors).toEqual([])
    await tab.close()
    const customer = await portal_.open(org)
    const asked = requestsOf(customer.page)
    await customer.portal.getByText(`Customer ${endpoints}`, { exact: true }).waitFor()
    // Statistics of some of the first page alone.
    expect(asked.filter((path) => path.startsWith('/endpoints/')).length).toBeLessThan(100)
    expect(await customer.portal.locator('*').count()).toBeLessThan(5_000)
    // One of the oldest, which is on no page that was read.
    const search = customer.portal.getByLabel('Search endpoints')
    const found = async (text: string): Promise<void> => {
      const response = customer.page.waitForResponse((one) =>
        new URL(one.url()).searchParams.get('search') === text
      )
      await search.fill(text)
      expect((await (await response).body()).length).toBeLessThan(100_000)
    }
    // Only one has this: the search looks through the URL and the description behind it.
    await found('HOOKS/17 CUSTOMER')
    await customer.portal.getByText('Customer 17', { exact: true }).waitFor()
    await customer.portal.getByText(`Customer ${endpoints}`, { exact: true }).waitFor({
      state: 'detached',
    })
    await found('example.com/hooks')
    await customer.portal.getByText('50 shown, newest first').waitFor()
    await customer.portal.getByRole('button', { name: 'Load older' }).click()
    await customer.portal.getByText('100 shown, newest first').waitFor()
    await search.fill('nobody has this')
    await customer.portal.getByText('No endpoint was found').waitFor()
    expect(await findingsOf(customer.page)).toEqual([])
    await search.fill('')
    await customer.portal.getByText(`Customer ${endpoints}`, { exact: true }).waitFor()
    expect(customer.errors).toEqual([])
    await customer.close()
  } finally {
    await running.stop()
    await portal_.stop()
  }
})
