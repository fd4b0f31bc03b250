/** What acts on an endpoint while it is being deleted waits for that, and then finds no endpoint. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { holdAt } from './_support/hold.ts'
import { publishMany } from './_support/publish.ts'

let db: OutboxDatabase
let deleting: Session
let acting: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  deleting = await db.open()
  acting = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** How an endpoint of each kind is made; each returns its id. */
const makers = {
  webhook: `outbox.create_endpoint('https://example.com', p_headers => '{"x-a": "1"}')`,
  slack: `outbox.create_slack_endpoint('https://hooks.slack.com/services/a')`,
  rabbitmq:
    `outbox.create_broker_endpoint('rabbitmq', '{"url": "amqps://mq.example", "exchange": "orders", "dlq_routing_key": "dead"}', '{"username": "u", "password": "p"}')`,
  whatsapp: `outbox.create_channel('default', '100000000000001', '2', '900000000000001', 'token')`,
}

/** Everything that changes an endpoint or what belongs to it; $1 is its id. */
const deeds: [kind: keyof typeof makers, deed: string][] = [
  ['webhook', `outbox.pause_endpoint($1)`],
  ['webhook', `outbox.resume_endpoint($1)`],
  ['webhook', `outbox.disable_endpoint($1)`],
  ['webhook', `outbox.delete_endpoint($1)`],
  ['webhook', `outbox.subscribe($1, '{more.*}')`],
  ['webhook', `outbox.set_headers($1, '{"x-b": "2"}')`],
  ['webhook', `outbox.rotate_secret($1)`],
  [
    'webhook',
    `outbox.expire_secret((select s.id from outbox.endpoint_secret s where s.endpoint_id = $1 and s.scheme = 'v1' and s.expires_at is not null))`,
  ],
  ['webhook', `outbox.pause_org_endpoint('default', $1)`],
  ['webhook', `outbox.resume_org_endpoint('default', $1)`],
  ['webhook', `outbox.delete_org_endpoint('default', $1)`],
  ['webhook', `outbox.update_org_endpoint('default', $1, '{"description": "other"}')`],
  ['webhook', `outbox.update_org_endpoint('default', $1, '{"eventTypes": ["more.*"]}')`],
  ['webhook', `outbox.set_retry_config('default', $1)`],
  ['webhook', `outbox.rotate_org_secret('default', $1)`],
  ['webhook', `outbox.resume_lane($1)`],
  ['webhook', `outbox.replay('01900000-0000-7000-8000-000000000000', $1)`],
  ['slack', `outbox.set_slack_url($1, 'https://hooks.slack.com/services/b')`],
  ['slack', `outbox.update_org_endpoint('default', $1, '{"url": "https://slack.example/c"}')`],
  ['rabbitmq', `outbox.set_broker($1, '{"exchange": "others"}')`],
  ['whatsapp', `outbox.update_channel('default', $1, '{"description": "other"}')`],
  ['whatsapp', `outbox.set_channel_token('default', $1, 'other')`],
  ['whatsapp', `outbox.set_default_channel('default', $1)`],
  ['whatsapp', `outbox.resume_channel('default', $1)`],
  ['whatsapp', `outbox.delete_channel('default', $1)`],
]

/** What a deletion leaves until the purge, and what no deed may change. */
async function all(endpoint: string): Promise<unknown> {
  const [row] = await db.admin`
    select to_jsonb(e) as endpoint,
      (select jsonb_agg(to_jsonb(s) order by s.id) from outbox.endpoint_secret s where s.endpoint_id = e.id) as secrets,
      (select jsonb_agg(to_jsonb(s) order by s.pattern) from outbox.subscription s where s.endpoint_id = e.id) as subscriptions,
      (select to_jsonb(c) from outbox.whatsapp_channel c where c.endpoint_id = e.id) as channel,
      (select count(*)::integer from vault.secrets) as vault,
      (select count(*)::integer from outbox.audit_event) as audited
    from outbox.endpoint e where e.id = ${endpoint}`
  return row
}

for (const [kind, deed] of deeds) {
  Deno.test(`${deed} beside a deletion of the ${kind} endpoint finds none and changes nothing`, async () => {
    const { sql } = deleting
    await sql`select outbox.put_whatsapp_app('900000000000001', 'secret')`
    const [made] = await sql.unsafe(`select ${makers[kind]} ->> 'id' as id`)
    if (kind === 'webhook') await sql`select outbox.rotate_secret(${made?.id})`
    await sql`begin`
    // What waits for the gate comes to it after the look at the endpoint.
    await sql`select outbox.lock_gates(array[${made?.id}::uuid]), outbox.delete_endpoint(${made?.id})`
    const done = acting.sql.unsafe(`select ${deed}`, [made?.id]).execute()
      .then(() => 'done', (error) => error.code)
    try {
      await expectWaitsFor(db.admin, acting, deleting)
    } finally {
      await sql`commit`
    }
    const deleted = await all(made?.id)
    expect(await done).toBe('OH002')
    expect(await all(made?.id)).toEqual(deleted)
    expect(deleted).toMatchObject({ endpoint: { status: 'deleted' } })
  })
}

Deno.test('purge_deleted() leaves an endpoint alone that is no longer deleted when its turn comes', async () => {
  const { sql } = deleting
  const endpoints = await addEndpoints(sql, { count: 2 })
  await publishMany(sql, 'thing.done', 3)
  const run = new Run(sql)
  const { deliveries } = await run.call([], 2)
  await run.call(deliveries.map((delivery) => report(delivery, 'failed')))
  await sql`select outbox.delete_endpoint(e) from unnest(${endpoints}::uuid[]) e`
  const holder = await db.open()
  let lifted: { id: string }[]
  {
    await using _hold = await holdAt(sql, holder.sql, {
      when: 'after',
      what: 'delete',
      table: 'delivery',
    })
    const purging = acting.sql`select outbox.purge_deleted(1000) as n`.execute()
    await expectWaitsFor(db.admin, acting, holder)
    // The one that is not being purged yet is saved by hand.
    lifted = await sql<{ id: string }[]>`
      update outbox.endpoint e set status = 'paused'
      where e.id in (select f.id from outbox.endpoint f for update skip locked) returning e.id`
    await holder.sql`select pg_advisory_unlock_all()`
    expect([...await purging]).toEqual([{ n: 3 }])
  }
  const open = await sql`
    select d.endpoint_id as id, count(*)::integer as n from outbox.delivery d group by 1`
  expect([...open]).toEqual([{ id: lifted[0]?.id, n: 3 }])
})
