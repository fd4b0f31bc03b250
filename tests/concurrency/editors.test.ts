/** Two people who read an endpoint at one version and change it: the second is refused. */

import { expect } from '@std/expect'
import { cross } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** All calls that take the version that the caller has read: $1 is the endpoint, $2 the version. */
const edits: [what: string, call: string][] = [
  [
    'update_org_endpoint()',
    `select outbox.update_org_endpoint('default', $1, '{"description": "second"}', $2)`,
  ],
  [
    'set_retry_config()',
    `select outbox.set_retry_config('default', $1, '{"strategy": "fixed", "baseDelay": 1, "maxRetries": 3}', $2)`,
  ],
  ['delete_org_endpoint()', `select outbox.delete_org_endpoint('default', $1, $2)`],
]

/** What the second editor would have changed. */
async function stored(endpoint: string): Promise<unknown> {
  const [row] = await db.admin`
    select e.version, e.description, e.retry, e.status from outbox.endpoint e where e.id = ${endpoint}`
  return row
}

for (const [what, call] of edits) {
  Deno.test(`${what} at a version that another editor is changing waits for that, and is refused`, async () => {
    const [made] = await one.sql`
      select outbox.create_endpoint('https://example.com/hook') ->> 'id' as id`
    const second = await cross(db, {
      one,
      other,
      first: [
        `select outbox.update_org_endpoint('default', $1, '{"description": "first"}', 1)`,
        [made?.id],
      ],
      second: [call, [made?.id, 1]],
    })
    expect(second).toBe('OH008')
    expect(await stored(made?.id)).toEqual({
      version: 2,
      description: 'first',
      retry: null,
      status: 'enabled',
    })
  })
}
