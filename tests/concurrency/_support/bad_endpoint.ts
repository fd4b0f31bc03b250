/** Deliveries of one endpoint that causes errors, beside others that succeed. */

import type { Delivery } from '../../../functions/_shared/contract/contract.ts'
import { type Report, report, Run } from './dispatch.ts'
import { sql, timePasses } from './one_session.ts'

/** The bad endpoint meets every outcome in turn, and loses some leases; all others succeed. */
function answer(delivery: Delivery, bad: string, n: number): Report[] {
  if (delivery.endpoint !== bad) return [report(delivery)]
  switch (n % 4) {
    case 0:
      return [report(delivery)]
    case 1:
      return [report(delivery, 'failed')]
    case 2:
      return [{ ...report(delivery, 'failed'), status: 404 }]
    default:
      return []
  }
}

/** Several rounds of a run, each some seconds after the one before. */
export async function deliverBeside(
  bad: string,
  rounds: number,
  how: 'call' | 'callOrIsolate',
): Promise<void> {
  const run = new Run(sql)
  let results: Report[] = []
  for (let round = 0; round < rounds; round++) {
    const { deliveries } = await run[how](results, 100)
    results = deliveries.flatMap((delivery, n) => answer(delivery, bad, n + round))
    await timePasses(7)
  }
  await run[how](results)
}

/** How many deliveries of the endpoints are open. */
export async function openOf(endpoints: string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from outbox.delivery_status s
    where s.open and s.endpoint_id = any (${endpoints}::uuid[])`
  return row?.n ?? NaN
}

/** How many attempts to send the events to the endpoints were successful. */
export async function deliveredTo(endpoints: string[], events: string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from outbox.attempt a
    where a.outcome = 'delivered' and a.endpoint_id = any (${endpoints}::uuid[])
      and a.event_id = any (${events}::uuid[])`
  return row?.n ?? NaN
}
