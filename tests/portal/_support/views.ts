import type { Locator } from 'playwright-core'
import type { TestOuthook } from '../../_support/outhook.ts'
import { until } from './portal.ts'

/** A view with what shows that it has read everything. */
export interface View {
  name: string
  path: string
  ready(portal: Locator): Promise<void>
}

/** By view: the button that opens a dialog there. */
export const dialogs: Readonly<Record<string, string>> = {
  endpoint: 'Send test event',
  settings: 'Delete endpoint',
  signature: 'Rotate secret',
}

/** Makes a customer with endpoints and deliveries, and returns each view of the portal. */
export async function viewsOf(outhook: TestOuthook, org: string): Promise<View[]> {
  const { sql } = outhook
  const shop = await outhook.createEndpoint('/shop', {
    ...{ p_event_types: ['order.*'], p_org_id: org, p_description: 'The shop' },
    p_headers: { 'x-tenant': 'ada' },
  })
  const crm = await outhook.createEndpoint('/repaired/crm', {
    ...{ p_event_types: ['customer.created'], p_org_id: org, p_description: 'CRM' },
  })
  const old = await outhook.createEndpoint('/old', { p_event_types: ['*'], p_org_id: org })
  await sql`select outbox.disable_endpoint(${old.id}, 'The endpoint answered with 410')`
  const schema = JSON.stringify({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' }, at: { type: 'string', format: 'date-time' } },
  })
  await sql`select outbox.put_event_type(${org}, 'order.paid', 'An order is paid', ${schema}::text::json),
    outbox.put_event_type(${org}, 'order.sent', 'The parcel is on its way'),
    outbox.put_event_type(${org}, 'customer.created', 'A customer signed up')`
  await sql`
    select outbox.publish('order.paid', jsonb_build_object('id', n, 'total', 49.9),
      p_org_id => ${org}) from generate_series(1, 4) n`
  const [failed] = await sql`
    select outbox.publish('customer.created', '{"name": "Ada"}', p_org_id => ${org}) as id`
  await until('all is delivered or dead', async () => {
    const [row] = await sql`
      select (select count(*) from outbox.dead_letter where org_id = ${org}) = 1
        and (select count(*) from outbox.attempt where endpoint_id = ${shop.id}) = 4 as done`
    return row?.done
  })
  const [sent] = await sql`
    select event_id as id from outbox.attempt where endpoint_id = ${shop.id} limit 1`
  const [job] = await outhook.admin`
    insert into outbox.replay_job (org_id, endpoint_id, status, failed_to, rate_per_second,
      replayed, skipped, created_at, finished_at)
    values (${org}, ${shop.id}, 'done', now(), 50, 2, 1, now(), now()) returning id`
  const text = (words: string | RegExp) => (portal: Locator): Promise<void> =>
    portal.getByText(words).first().waitFor()
  const shopPath = `endpoints/${shop.id}`
  return [
    { name: 'endpoints', path: 'endpoints', ready: text('4 delivered') },
    { name: 'new', path: 'endpoints/new', ready: text('The parcel is on its way') },
    { name: 'endpoint', path: shopPath, ready: text('4 shown, all') },
    { name: 'signature', path: `${shopPath}/signature`, ready: text('timingSafeEqual') },
    { name: 'settings', path: `${shopPath}/settings`, ready: text('The parcel is on its way') },
    { name: 'replay', path: `${shopPath}/replay`, ready: text('100 %') },
    { name: 'replay-form', path: `endpoints/${crm.id}/replay`, ready: text('Show how many') },
    { name: 'failing', path: `endpoints/${crm.id}`, ready: text('1 shown, all') },
    { name: 'job', path: `${shopPath}/replay/${job?.id}`, ready: text('Done: 2 of 3') },
    { name: 'disabled', path: `endpoints/${old.id}`, ready: text('Resume') },
    {
      name: 'delivery',
      path: `deliveries/${failed?.id}.${crm.id}`,
      async ready(portal): Promise<void> {
        await text('Attempt 1 failed')(portal)
        await text('"Ada"')(portal)
      },
    },
    { name: 'delivered', path: `deliveries/${sent?.id}.${shop.id}`, ready: text('49.9') },
    { name: 'type-list', path: 'event-types', ready: text('A customer signed up') },
    { name: 'types', path: 'event-types/order.paid', ready: text('Schema') },
    { name: 'missing', path: 'endpoints/nothing', ready: text('There is no such endpoint') },
  ]
}
