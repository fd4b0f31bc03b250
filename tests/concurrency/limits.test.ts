/** Two sessions at a limit of an organisation: one passes, whatever they create and whoever commits first. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  for (const [name, value] of Object.entries(limits)) {
    await db.admin`select outbox.set_org_setting('org-1', ${name}, ${db.admin.json(value)})`
  }
  const [row] = await db.admin<{ one: string; two: string }[]>`
    select outbox.create_endpoint('https://example.com', '{}', 'org-1') ->> 'id' as one,
      outbox.create_endpoint('https://example.com', '{}', 'org-1') ->> 'id' as two`
  if (row !== undefined) endpoints = row
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Two endpoints exist. */
let endpoints = { one: '', two: '' }
const limits = {
  'limit.endpoints': 3,
  'limit.subscriptions': 1,
  'limit.event_types': 1,
  'limit.replay_jobs': 1,
  'limit.portal_tokens_per_day': 1,
  'limit.templates': 1,
}

const creations: [limit: string, code: string, first: () => string, second: () => string][] = [
  [
    'limit.endpoints',
    'OH010',
    () => `select outbox.create_endpoint('https://example.com', '{}', 'org-1')`,
    () => `select outbox.create_slack_endpoint('https://example.com', '{}', 'org-1')`,
  ],
  [
    'limit.subscriptions',
    'OH010',
    () => `select outbox.subscribe('${endpoints.one}', '{a}')`,
    () => `select outbox.subscribe('${endpoints.two}', '{a}')`,
  ],
  [
    'limit.event_types',
    'OH010',
    () => `select outbox.put_event_type('org-1', 'a')`,
    () => `select outbox.put_event_type('org-1', 'b')`,
  ],
  [
    'limit.replay_jobs',
    'OH010',
    () => `select outbox.replay_many('org-1')`,
    () => `select outbox.create_replay_job('org-1', '{}')`,
  ],
  [
    'limit.templates',
    'OH010',
    () => `select outbox.put_template('org-1', 'a', 'reminder', 'fr', 'UTILITY')`,
    () => `select outbox.put_template('org-1', 'b', 'reminder', 'fr', 'UTILITY')`,
  ],
  [
    'limit.portal_tokens_per_day',
    'OH011',
    () => `select outbox.record_portal_token('org-1', '{"id": "a", "issuedAt": 1}')`,
    () => `select outbox.record_portal_token('org-1', '{"id": "b", "issuedAt": 1}')`,
  ],
]

for (const [limit, code, first, second] of creations) {
  Deno.test(`${limit}: the second session waits for the first, and is refused after its commit`, async () => {
    await one.sql`begin`
    await one.sql.unsafe(first())
    const waiting = other.sql.unsafe(second()).then(() => 'accepted', (error) => error)
    await expectWaitsFor(db.admin, other, one)
    await one.sql`commit`
    expect(await waiting).toMatchObject({ code, message: expect.stringContaining(limit) })
  })

  Deno.test(`${limit}: the second session passes if the first rolls back`, async () => {
    await one.sql`begin`
    await one.sql.unsafe(first())
    const waiting = other.sql.unsafe(second()).then(() => 'accepted', (error) => error)
    await expectWaitsFor(db.admin, other, one)
    await one.sql`rollback`
    expect(await waiting).toBe('accepted')
  })

  Deno.test(`${limit}: an old snapshot counts nothing too little`, async () => {
    await other.sql`begin isolation level repeatable read`
    try {
      await other.sql`select count(*) from outbox.setting`
      await one.sql.unsafe(first())
      const error = await other.sql.unsafe(second()).then(() => 'accepted', (error) => error)
      expect(error).toMatchObject({ code: '40001' })
    } finally {
      await other.sql`rollback`
    }
  })

  Deno.test(`${limit}: another organisation does not wait`, async () => {
    await one.sql`begin`
    try {
      await one.sql.unsafe(first())
      const org = second().replaceAll('org-1', 'org-2').replace(
        endpoints.two,
        await otherEndpoint(),
      )
      await other.sql.unsafe(org)
    } finally {
      await one.sql`rollback`
    }
  })
}

/** Both change the subscriptions of the two endpoints, or add an endpoint, in opposite orders. */
const crossings: [name: string, first: () => string, second: () => string][] = [
  [
    'subscribe()',
    () => `select outbox.subscribe('${endpoints.one}', '{a}')`,
    () => `select outbox.subscribe('${endpoints.two}', '{b}')`,
  ],
  [
    'update_org_endpoint()',
    () => changedTypes(endpoints.one),
    () => changedTypes(endpoints.two),
  ],
  [
    'subscribe() and create_endpoint()',
    () => `select outbox.subscribe('${endpoints.one}', '{a}')`,
    () => `select outbox.create_endpoint('https://example.com', '{c}', 'org-1')`,
  ],
]

for (const [name, first, second] of crossings) {
  Deno.test(`${name}: of two transactions in opposite orders, one waits for the other, and both pass`, async () => {
    for (const limit of ['limit.endpoints', 'limit.subscriptions']) {
      await db.admin`select outbox.set_org_setting('org-1', ${limit}, '100')`
    }
    await one.sql`begin`
    await one.sql.unsafe(first())
    await other.sql`begin`
    const waiting = other.sql.unsafe(second()).then(() => 'accepted', (error) => error)
    await expectWaitsFor(db.admin, other, one)
    await one.sql.unsafe(second())
    await one.sql`commit`
    expect(await waiting).toBe('accepted')
    await other.sql.unsafe(first())
    await other.sql`commit`
  })
}

Deno.test('publishing waits for no creation, and no creation for a publisher', async () => {
  await db.admin`select outbox.set_org_setting('org-1', 'limit.event_mib_per_day', '1')`
  await one.sql`begin`
  for (const [, , first] of creations) await one.sql.unsafe(first())
  await one.sql`select outbox.publish('a', '1', 'org-1')`
  await other.sql`select outbox.publish('a', '1', 'org-1')`
  await one.sql`commit`
})

/** An endpoint of another organisation. */
async function otherEndpoint(): Promise<string> {
  const [row] = await db.admin<{ id: string }[]>`
    select outbox.create_endpoint('https://example.com', '{}', 'org-2') ->> 'id' as id`
  return row?.id ?? ''
}

/** A call that changes the event types of an endpoint. */
function changedTypes(endpoint: string): string {
  return `select outbox.update_org_endpoint('org-1', '${endpoint}', '{"eventTypes": ["a", "b"]}')`
}
