/**
 * An error that is usually temporary, and that one endpoint causes each time, in each statement of
 * dispatch(): the first call fails, and its repeat, which requests to refuse rows, affects no other endpoint.
 */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { deliverBeside, deliveredTo, openOf } from './_support/bad_endpoint.ts'
import { db, sql, timePasses, useOneSession } from './_support/one_session.ts'
import { drain, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { allow, type Operation, refuse } from './_support/refuse.ts'

useOneSession()

/** What the tick does about deliveries and events that wait. */
async function tick(): Promise<void> {
  await sql`select outbox.route_waiting(outbox.clock(), 100), outbox.create_waiting(outbox.clock(), 100)`
}

const codes = ['40P01', '55P03', '57014']

/** Every statement in which dispatch writes rows that belong to an endpoint, or to an event of it. */
const statements: [table: string, operation: Operation][] = [
  ['attempt', 'insert'],
  ['counter_change', 'insert'],
  ['dead_letter', 'insert'],
  ['dead_letter', 'update'],
  ['delivery', 'insert'],
  ['delivery', 'update'],
  ['delivery', 'delete'],
  ['endpoint', 'update'],
  ['endpoint_refusal', 'insert'],
  ['endpoint_refusal', 'update'],
  ['endpoint_refusal', 'delete'],
  ['event', 'insert'],
  ['gate', 'update'],
  ['lane', 'insert'],
  ['lane', 'update'],
  ['lane', 'delete'],
  ['lane_refusal', 'insert'],
  ['refusal', 'insert'],
  ['refusal', 'update'],
  ['refusal', 'delete'],
  ['run_batch', 'update'],
  ['run_batch', 'delete'],
  ['unroutable', 'insert'],
  ['unrouted', 'update'],
  ['unrouted', 'delete'],
]

/** The most important statements meet each code; with `--all` each statement does. */
const always = ['attempt insert', 'delivery delete', 'gate update', 'lane update']

function cases(): [code: string, table: string, operation: Operation][] {
  const isAll = Deno.env.get('OUTHOOK_TESTS') === 'all'
  return statements.flatMap(([table, operation], place) =>
    codes.filter((_, at) =>
      isAll || always.includes(`${table} ${operation}`) || place % codes.length === at
    ).map((code): [string, string, Operation] => [code, table, operation])
  )
}

for (const [code, table, operation] of cases()) {
  Deno.test(`a run delivers to all others when ${operation} of ${table} fails each time with ${code} for one endpoint`, async () => {
    const [bad = ''] = await addEndpoints(sql, { count: 1, breakerThreshold: 4, retryAfter: 1 })
    await sql`update outbox.endpoint set retry = jsonb_set(retry, '{max_retries}', '2') where id = ${bad}`
    const ordered = await addEndpoints(sql, { count: 1, ordering: 'partition' })
    const others = [...await addEndpoints(sql, { count: 2 }), ...ordered]
    const before = await publishMany(sql, 'thing.before', 6)
    await new Run(sql).call([], 4)
    await refuse(sql, { table, operation, endpoint: bad, code })
    try {
      const events = [...before, ...await publishMany(sql, 'thing.done', 12)]
      await deliverBeside(bad, 30, 'callOrIsolate')
      expect(await openOf(others)).toBe(0)
      expect(await deliveredTo(others, events)).toBe(others.length * events.length)
    } finally {
      await allow(sql)
    }
    await timePasses(6_000)
    await tick()
    await sql`
      select outbox.retry_now(s.event_id, s.endpoint_id) from outbox.delivery_status s
      where s.open and s.status <> 'processing'`
    for (let round = 0; round < 5; round++) {
      await drain(sql)
      await timePasses(600)
    }
    expect(await openOf([bad, ...others])).toBe(0)
    await expectExactCounters(db.admin)
  })
}
