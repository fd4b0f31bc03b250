/** What others do while an organisation moves: open transactions, people, jobs, and a second command. */

import { expect } from '@std/expect'
import { setTimeout as delay } from 'node:timers/promises'
import { MoveError } from '../../package/command/move_org/database.ts'
import { finishMove, moveOrg } from '../../package/command/move_org/move.ts'
import { expectWaitsFor } from './_support/checks.ts'
import {
  before,
  codeOf,
  createEndpoint,
  deliver,
  moveInput,
  type Project,
  publish,
  startProject,
} from './_support/org_move.ts'

let one: Project
let two: Project

Deno.test.beforeAll(async () => {
  one = await startProject('source')
  two = await startProject('target')
})
Deno.test.beforeEach(async () => {
  await one.db.reset()
  await two.db.reset()
})
Deno.test.afterAll(async () => {
  await one?.[Symbol.asyncDispose]()
  await two?.[Symbol.asyncDispose]()
})

/** Whether the source says that an older transaction is open, after its look has set the bound. */
async function waitsForTransactions(): Promise<boolean> {
  const look = (): Promise<{ transactions: boolean }> =>
    one.move.call('settle_move', { org_id: 'org-1' })
  await look()
  return (await look()).transactions
}

Deno.test('a publisher whose transaction id is the newest one is waited for', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  await one.move.call('begin_leaving', {
    org_id: 'org-1',
    move_id: crypto.randomUUID(),
    other: 'two',
  })
  expect(await waitsForTransactions()).toBe(false)
  const other = await one.db.open()
  const closer = await one.db.open()
  const publisher = await one.db.open()
  await other.sql`begin`
  // The extended protocol would keep a snapshot, by which the transaction is found too.
  await other.sql`select pg_current_xact_id()`.simple()
  await closer.sql`begin`
  await closer.sql`select outbox.close_source('org-1')`
  await publisher.sql`begin`
  await publisher.sql`select outbox.publish('a', '{}', 'org-1')`.simple()
  await closer.sql`commit`
  expect(await waitsForTransactions()).toBe(true)
  // The oldest transaction ends before the newest.
  await other.sql`commit`
  expect(await waitsForTransactions()).toBe(true)
  await publisher.sql`commit`
  expect(await waitsForTransactions()).toBe(false)
})

Deno.test('a transaction with an old snapshot and no id is waited for', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  const early = await one.db.open()
  await early.sql`begin isolation level repeatable read`
  await early.sql`select 1 from outbox.org_move`
  await one.move.call('begin_leaving', {
    org_id: 'org-1',
    move_id: crypto.randomUUID(),
    other: 'two',
  })
  expect(await waitsForTransactions()).toBe(true)
  await early.sql`commit`
  expect(await waitsForTransactions()).toBe(false)
})

Deno.test('an endpoint that an old snapshot has resumed after the pause is paused before the switch', async () => {
  const resumed = await createEndpoint(one, 'org-1', ['a'])
  await one.sql`select outbox.pause_endpoint(${resumed})`
  const early = await one.db.open()
  await early.sql`begin isolation level repeatable read`
  await early.sql`select 1 from outbox.org_move`
  await moveOrg(moveInput('org-1', one, two, {
    source: before(one, 'settle_move', async () => {
      await early.sql`select outbox.resume_endpoint(${resumed})`
      await early.sql`commit`
    }),
  }))
  const [there] = await two.db.admin`select status from outbox.endpoint where id = ${resumed}`
  expect(there).toEqual({ status: 'enabled' })
  const enabled = await one.db.admin`select id from outbox.endpoint where status = 'enabled'`
  expect([...enabled]).toEqual([])
})

Deno.test('nothing of an organisation is changed where it is not, and what was changed before moves', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'], {
    p_retry: { strategy: 'fixed', base_delay: 3600, max_retries: 1 },
  })
  const dead = await publish(one, 'org-1', 'a')
  await deliver(one, [], () => true)
  await one.sql`select outbox.schedule_retry(${dead}, ${endpoint}, '0')`
  await deliver(one, [], () => true)
  const open = await publish(one, 'org-1', 'a')
  await deliver(one, [], () => true)
  const changes = ({ sql }: Project): Record<string, () => Promise<unknown>> => ({
    rotate_secret: () => sql`select outbox.rotate_secret(${endpoint})`,
    set_headers: () => sql`select outbox.set_headers(${endpoint}, '{"x-a": "b"}')`,
    subscribe: () => sql`select outbox.subscribe(${endpoint}, '{b}')`,
    unsubscribe: () => sql`delete from outbox.subscription where endpoint_id = ${endpoint}`,
    update: () =>
      sql`update outbox.endpoint set url = 'https://example.com/b' where id = ${endpoint}`,
    pause_endpoint: () => sql`select outbox.pause_endpoint(${endpoint}, 'by hand')`,
    delete_endpoint: () => sql`select outbox.delete_endpoint(${endpoint})`,
    put_event_type: () => sql`select outbox.put_event_type('org-1', 'a')`,
    set_catalogue: () => sql`select outbox.set_catalogue('org-1', true)`,
    set_org_setting: () => sql`select outbox.set_org_setting('org-1', 'limit.endpoints', '3')`,
    replay: () => sql`select outbox.replay(${dead}, ${endpoint})`,
    discard: () => sql`select outbox.discard_dead_letter(${dead}, ${endpoint}, 'x')`,
    replay_many: () => sql`select outbox.replay_many('org-1')`,
    retry_now: () => sql`select outbox.retry_now(${open}, ${endpoint})`,
    cancel: () => sql`select outbox.cancel_delivery(${open}, ${endpoint})`,
  })
  const codes = async (side: Project): Promise<Record<string, string | null>> => {
    const answers: Record<string, string | null> = {}
    for (const [name, change] of Object.entries(changes(side))) {
      answers[name] = await codeOf(change())
    }
    return answers
  }
  const refused = Object.fromEntries(Object.keys(changes(one)).map((name) => [name, 'OH012']))
  let closed: unknown
  let receiving: unknown
  // While it is copied, a change is one that moves.
  const closing = before(one, 'close_source', async () => {
    await one.sql`select outbox.rotate_secret(${endpoint})`
    await one.sql`select outbox.set_headers(${endpoint}, '{"x-a": "c"}')`
  })
  await moveOrg(moveInput('org-1', one, two, {
    source: before({ ...one, move: closing }, 'leave_source', async () => {
      closed = await codes(one)
      receiving = await codes(two)
    }),
  }))
  const secrets = async ({ db }: Project): Promise<unknown> => [
    ...await db.admin`
      select v.decrypted_secret, outbox.stored_headers(e.headers_vault_id) as headers
      from outbox.endpoint e join outbox.endpoint_secret s on s.endpoint_id = e.id
      join vault.decrypted_secrets v on v.id = s.vault_id order by s.id`,
  ]
  expect(await secrets(two)).toEqual(await secrets(one))
  expect(closed).toEqual(refused)
  expect(receiving).toEqual(refused)
  expect(await codes(one)).toEqual(refused)
  await finishMove(moveInput('org-1', one, two))
  const [left] = await one.db.admin`select count(*)::integer as n from outbox.event_type`
  expect(left).toEqual({ n: 0 })
  expect(await codeOf(one.sql`select outbox.set_org_setting('org-1', 'limit.endpoints', '3')`))
    .toBe('OH012')
})

Deno.test('a job that begins while it is copied, and one of all organisations, prevent the move', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  const closing = (sql: string): Promise<string> =>
    moveOrg(moveInput('org-1', one, two, {
      source: before(one, 'close_source', () => one.db.admin.unsafe(sql)),
    })).then(() => 'moved', (error) => error.message)
  expect(await closing(`select outbox.replay_many(null)`)).toMatch(
    /^source: organisation org-1 cannot move: replay job \d+ is running/,
  )
  await one.db.admin`update outbox.replay_job set status = 'done' where true`
  expect(await closing(`select outbox.mark_delivered(outbox.clock() - interval '1 s', 'org-1')`))
    .toContain('of mark_delivered() is running')
  await one.db.admin`update outbox.delivered_mark set finished_at = outbox.clock() where true`
  expect(await closing('select 1')).toBe('moved')
})

Deno.test('what a person must end first is named before anything is changed', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  const unreadable = await createEndpoint(one, 'org-1', ['a'])
  const event = await publish(one, 'org-1', 'b')
  await one.db.admin`
    insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
    values (${event}, ${endpoint}, 'routing', 6, '23514', 'x', outbox.clock(), 'infinity')`
  await one.db.admin`
    delete from vault.secrets v using outbox.endpoint_secret s
    where s.endpoint_id = ${unreadable} and v.id = s.vault_id`
  const refused = await moveOrg(moveInput('org-1', one, two)).catch((error) => error.message)
  expect(refused).toContain(
    `the delivery of event ${event} to endpoint ${endpoint} could not be created`,
  )
  expect(refused).toContain(`endpoint ${unreadable} is unreadable: the signing secret`)
  const none = await two.db.admin`select from outbox.org_move`
  expect(none.length).toBe(0)
  // A replaced secret that cannot be read only expires earlier.
  await one.db.admin`delete from outbox.refusal where true`
  await one.sql`select outbox.delete_endpoint(${unreadable})`
  const [old] = await one.db
    .admin`select vault_id from outbox.endpoint_secret where endpoint_id = ${endpoint}`
  await one.sql`select outbox.rotate_secret(${endpoint})`
  await one.db.admin`delete from vault.secrets where id = ${old?.vault_id}`
  await moveOrg(moveInput('org-1', one, two))
  const [there] = await two.db.admin`select count(*)::integer as n from outbox.endpoint_secret`
  expect(there).toEqual({ n: 1 })
})

Deno.test('a second command takes the move over, and the first one changes nothing any more', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  await publish(one, 'org-1', 'a')
  await deliver(one, [], () => true)
  const second = moveInput('org-1', one, two)
  const first = await moveOrg(moveInput('org-1', one, two, {
    target: before(two, 'write_move_page', () => moveOrg(second)),
  })).catch((error) => error.message)
  expect(first).toBe(
    'target: another run of outhook move-org continues the move of organisation org-1',
  )
  const [there] = await two.db.admin`select depth::integer from outbox.gate`
  expect(there).toEqual({ depth: 1 })
})

Deno.test('a step of a killed command ends before the next command looks', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  const killed = moveInput('org-1', one, two)
  const stopped = before(
    one,
    'close_source',
    () => Promise.reject(new MoveError('killed', 'killed')),
  )
  expect(await codeOf(moveOrg({ ...killed, source: stopped }))).toBe('killed')
  // The server still executes the last step of the killed command: it waits for a gate.
  const holder = await two.db.open()
  await holder.sql`begin`
  await holder.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
  const stale = await two.db.open()
  const step = stale.sql`
    select outbox.write_move_page('org-1', 'event', '', null, '[]')
    from outbox.hold_move('org-1', ${killed.run}::uuid)`.execute()
  await expectWaitsFor(two.db.admin, stale, holder)
  const next = moveOrg(moveInput('org-1', one, two))
  const isWaiting = async (): Promise<boolean> => {
    const rows = await two.db.admin`
      select from pg_stat_activity a
      where a.application_name = 'outhook move-org' and ${stale.pid}::integer = any (pg_blocking_pids(a.pid))`
    return rows.length > 0
  }
  while (!await isWaiting()) await delay(10)
  await holder.sql`commit`
  await step
  await next
  const [live] = await two.db.admin`select status from outbox.org_move`
  expect(live).toEqual({ status: 'live' })
})
