import type { Behaviour } from '../../e2e/receiver/behaviours.ts'
import type { TestOuthook } from '../../_support/outhook.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'

/** Whether the receivers of `/repaired/…` work. Each test file has its own. */
export const receivers = { areRepaired: false }

/** `/repaired/<word>`: 404 with a reason until `receivers.areRepaired`, then 200. */
export const alsoRepaired: Record<string, Behaviour> = {
  repaired: ({ answer }) =>
    receivers.areRepaired
      ? answer(200, 'thanks')
      : answer(404, '{"error": "no route for this webhook"}'),
}

/** What the sample contains, by name. */
export interface Sample {
  good: string
  failing: string
  broken: string
  paused: string
  event: string
  held: string
  deadLetter: string
}

/** Endpoints in each status, with deliveries that were delivered, are retried, held or dead. */
export async function makeSample(outhook: TestOuthook): Promise<Sample> {
  const { sql } = outhook
  const endpoint = async (path: string, types: string, more: object = {}): Promise<string> => {
    const args = { p_event_types: [types], ...more }
    return (await outhook.createEndpoint(path, args)).id
  }
  const good = await endpoint('/shop/webhooks', 'order.*', {
    p_description: 'The shop of Ada',
    p_headers: { 'x-tenant': 'ada' },
  })
  // Retried in 50 minutes, so what is shown does not depend on how long a test takes.
  const failing = await endpoint('/status/503', 'invoice.*', {
    p_description: 'Accounting',
    p_retry: { strategy: 'schedule', delays: [3000], max_retries: 5, jitter: false },
  })
  const broken = await endpoint('/repaired/crm', 'customer.*', { p_description: 'CRM' })
  const paused = await endpoint('/warehouse', 'stock.*', { p_description: 'The warehouse' })
  await sql`select outbox.pause_endpoint(${paused}, 'The receiver is being rebuilt')`
  const schema = JSON.stringify({ type: 'object', properties: { id: { type: 'integer' } } })
  await sql`
    select outbox.put_event_type('default', 'order.paid', 'An order is paid', ${schema}::text::json)`
  await sql`
    select outbox.publish('order.paid', jsonb_build_object('id', n, 'total', 49.9 + n, 'items',
      jsonb_build_array(jsonb_build_object('sku', 'A-' || n, 'count', 2))), p_correlation_id => 'cart-' || n)
    from generate_series(1, 60) n`
  await sql`
    select outbox.publish('customer.created', jsonb_build_object('id', n, 'name', 'Ada'))
    from generate_series(1, 12) n`
  await sql`
    select outbox.publish('invoice.sent', jsonb_build_object('id', n)) from generate_series(1, 4) n`
  await sql`
    select outbox.publish('stock.changed', jsonb_build_object('sku', n)) from generate_series(1, 5) n`
  await sql`
    select outbox.accept_once('billing', 'event-' || n), outbox.accept_once('search', 'event-1')
    from generate_series(1, 3) n`
  const isDone = async (): Promise<boolean> => {
    const [row] = await sql`
      select (select count(*) from outbox.dead_letter) = 12
        and (select count(*) from outbox.attempt where endpoint_id = ${good}) = 60
        and (select count(distinct event_id) from outbox.attempt where endpoint_id = ${failing}) = 4
        as done`
    return row?.done === true
  }
  if (!await waitUntil(isDone, { timeoutMs: patienceMs })) throw new Error('no sample')
  const [letter] = await sql`
    select id, event_id from outbox.dead_letter order by failed_at desc limit 1`
  const [held] = await sql`select id from outbox.event where type = 'stock.changed' limit 1`
  return {
    ...{ good, failing, broken, paused },
    ...{ event: letter?.event_id, held: held?.id, deadLetter: letter?.id },
  }
}
