import { join } from 'node:path'
import { withApi } from '../../../portal/build/page.ts'
import { cataloguePage } from '../../../portal/catalogue/page.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { openTab, type Tab, type TabOptions } from '../../console/_support/browser.ts'
import type { TestPortal } from './portal.ts'

/** What a customer sees besides the views of their endpoints. */
export const pages: readonly { name: string; open: Open }[] = [
  { name: 'first', open: openFirst },
  { name: 'endpoint-dialog', open: openTested },
  { name: 'hosted', open: openHosted },
  { name: 'catalogue', open: openCatalogue },
  { name: 'signed-out', open: openSignedOut },
]

type Open = (portal: TestPortal, options: TabOptions) => Promise<Tab>

/** The portal of a customer without an endpoint. */
async function openFirst(portal_: TestPortal, options: TabOptions): Promise<Tab> {
  const { portal, ...tab } = await portal_.open('nobody', options)
  await portal.getByRole('button', { name: 'Add your first endpoint' }).waitFor()
  return tab
}

/** The result of a test event, of a customer of its own: the other views count their attempts. */
async function openTested(portal_: TestPortal, options: TabOptions): Promise<Tab> {
  const org = 'tested'
  const { id } = await portal_.outhook.createEndpoint('/tested', {
    ...{ p_event_types: ['order.*'], p_org_id: org },
  })
  const query = `page=${encodeURIComponent(`endpoints/${id}`)}`
  const { portal, ...tab } = await portal_.open(org, { ...options, query })
  await portal.getByRole('button', { name: 'Send test event', exact: true }).click()
  await tab.page.getByRole('dialog').waitFor()
  return tab
}

/** The portal whose app gives no token any more. */
async function openSignedOut(portal_: TestPortal, options: TabOptions): Promise<Tab> {
  const { portal, ...tab } = await portal_.open('nobody', options)
  portal_.app.isDown = true
  await portal_.outhook.sql`select outbox.revoke_portal_tokens('nobody')`
  await portal.getByText('You are signed out.').waitFor()
  return tab
}

/** The page for those who give a customer a link. */
async function openHosted(
  { app, browser, outhook }: TestPortal,
  options: TabOptions,
): Promise<Tab> {
  app.isDown = false
  app.asks = { orgId: 'pictures', body: {} }
  const { token } = await (await fetch(`${app.url}/token`, { method: 'POST' })).json()
  const at = { api: outhook.stack.apiUrl, functionName: 'api' }
  for (const [name, bytes] of withApi(new Map(app.files), at)) app.files.set(name, bytes)
  const tab = await openTab(browser, options)
  await tab.page.goto(`${app.url}/index.html#token=${token}`)
  await tab.page.getByText('4 delivered').waitFor()
  return tab
}

/** The event types as a static page. */
async function openCatalogue({ app, browser }: TestPortal, options: TabOptions): Promise<Tab> {
  const times = { createdAt: '2026-03-01T12:00:00Z', updatedAt: '2026-03-01T12:00:00Z' }
  const schema = {
    ...{ type: 'object', required: ['id'], examples: [{ id: 7, total: 49.9 }] },
    properties: { id: { type: 'integer' }, total: { type: 'number', description: 'In euros' } },
  }
  const page = cataloguePage([
    { type: 'order.paid', description: 'An order is paid', schema, ...times },
    { type: 'order.sent', description: 'The parcel is on its way', schema: null, ...times },
  ], 'Events of the shop')
  app.files.set('catalogue.html', new TextEncoder().encode(page))
  app.files.set(
    'catalogue.css',
    await Deno.readFile(join(projectRoot, 'portal/catalogue/catalogue.css')),
  )
  const tab = await openTab(browser, options)
  await tab.page.goto(`${app.url}/catalogue.html`)
  await tab.page.getByRole('link', { name: 'order.paid' }).waitFor()
  return tab
}
