/** An organisation moves to another project: under load, killed after each step, undone, and back again. */

import { expect } from '@std/expect'
import { MoveError } from '../../package/command/move_org/database.ts'
import { finishMove, moveOrg, undoMove } from '../../package/command/move_org/move.ts'
import { runMoveOrg } from '../../package/command/move_org/move_org.ts'
import { expectExactCounters } from './_support/checks.ts'
import {
  type Arrival,
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

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

Deno.test('an organisation moves while it publishes: nothing is lost, repeated or out of order', async () => {
  const plain = await createEndpoint(one, 'org-1', ['*'])
  const ordered = await createEndpoint(one, 'org-1', ['a'], { p_ordering: 'partition' })
  const arrivals: Arrival[] = []
  const published: { id: string; key: string }[] = []
  let home = one
  let n = 0
  const publishSome = async (): Promise<void> => {
    for (let more = 0; more < 3;) {
      const key = `key-${n % 3}`
      try {
        published.push({ id: await publish(home, 'org-1', 'a', key), key })
        n++
        more++
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'OH012')) throw error
        // The routing table of the publisher has the other project now. Both refuse for a moment.
        home = home === one ? two : one
        return
      }
    }
  }
  await publishSome()
  await deliver(one, arrivals)
  let isMoved = false
  const session = await one.db.open()
  const worker = { ...one, sql: session.sql }
  const working = (async (): Promise<void> => {
    while (!isMoved) await deliver(worker, arrivals)
  })()
  const beside = (side: Project): Project['move'] => ({
    ...side.move,
    call: async (...call) => {
      await publishSome()
      return await side.move.call(...call)
    },
  })
  try {
    await moveOrg(moveInput('org-1', one, two, {
      source: beside(one),
      target: beside(two),
      pause: () => Promise.resolve(),
    }))
  } finally {
    isMoved = true
    await working
  }
  await publishSome()
  expect(home).toBe(two)
  await deliver(two, arrivals)

  const keys = arrivals.map(({ event, endpoint }) => `${event} ${endpoint}`)
  const wanted = published.flatMap(({ id }) => [`${id} ${plain}`, `${id} ${ordered}`])
  expect(keys.toSorted()).toEqual(wanted.toSorted())
  for (const name of ['key-0', 'key-1', 'key-2']) {
    const ids = published.filter(({ key }) => key === name).map(({ id }) => id)
    const came = arrivals.filter(({ event, endpoint }) =>
      endpoint === ordered && ids.includes(event)
    )
    expect(came.map(({ event }) => event)).toEqual(ids)
  }
  await expectExactCounters(one.db.admin)
  await expectExactCounters(two.db.admin)
})

Deno.test('retries, dead letters, halted lanes, secrets, headers, types and keys are the same in the target', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'], {
    p_ordering: 'partition',
    p_secret: secret,
    p_retry: { strategy: 'schedule', delays: [3600], max_retries: 1 },
  })
  await one.sql`update outbox.endpoint set on_dead_letter = 'halt' where id = ${endpoint}`
  await one.sql`select outbox.set_headers(${endpoint}, '{"x-key": "value"}')`
  await one.sql`select outbox.subscribe(${endpoint}, '{b}', '$.x == 1')`
  await one.sql`select outbox.put_event_type('org-1', 'a', 'An a', '{"type":  "object"}')`
  await one.sql`select outbox.set_org_setting('org-1', 'limit.endpoints', '7')`
  const retried = await publish(one, 'org-1', 'a', 'x', 'key-1')
  const behind = await publish(one, 'org-1', 'a', 'x')
  const dead = await publish(one, 'org-1', 'a', 'y')
  await publish(one, 'org-1', 'a', 'y')
  await deliver(one, [], () => true)
  await one.sql`select outbox.schedule_retry(${dead}, ${endpoint}, '0')`
  await deliver(one, [], () => true)
  const facts = async ({ db }: Project): Promise<unknown> => [
    ...await db.admin`
      select e.header_names, e.retry, e.ordering, e.status, e.version > 1 as is_changed,
        outbox.stored_headers(e.headers_vault_id) as headers,
        (select jsonb_agg(jsonb_build_array(s.id, v.decrypted_secret)) from outbox.endpoint_secret s
          join vault.decrypted_secrets v on v.id = s.vault_id where s.endpoint_id = e.id) as secrets,
        (select jsonb_agg(jsonb_build_array(s.pattern, s.filter_text, s.filter, s.filter_weight, s.created_at) order by s.pattern)
          from outbox.subscription s where s.endpoint_id = e.id) as subscriptions
      from outbox.endpoint e where e.status <> 'deleted'`,
    ...await db.admin`
      select d.event_id, d.endpoint_id, d.attempt, d.failed_attempts, d.due_at::text, l.halted, l.not_before::text,
        l.ordered, l.key_hash::text, v.body, v.created_at::text
      from outbox.delivery d join outbox.lane l on l.id = d.lane_id join outbox.event v on v.id = d.event_id
      order by d.event_id`,
    ...await db.admin`select * from outbox.dead_letter order by id`,
    ...await db.admin`select type, description, schema::text from outbox.event_type`,
    ...await db.admin`select org_id, name, value from outbox.org_setting`,
  ]
  const before = await facts(one)
  await moveOrg(moveInput('org-1', one, two))

  expect(await facts(two)).toEqual(before)
  expect(await publish(two, 'org-1', 'a', 'x', 'key-1')).toBe(retried)
  await expectExactCounters(two.db.admin)
  const ends = await one.db.admin`
    select a.error, count(*)::integer as n from outbox.attempt a where a.kind = 'close' and a.outcome = 'cancelled' group by 1`
  expect([...ends]).toEqual([{ error: 'the organisation has moved to two', n: 2 }])
  // The lane of x waits for its retry, and the lane of y is halted.
  const arrivals: Arrival[] = []
  expect(await deliver(two, arrivals)).toBe(0)
  await two.sql`select outbox.retry_now(${retried}, ${endpoint})`
  await deliver(two, arrivals)
  expect(arrivals.map(({ event, attempt }) => [event, attempt])).toEqual([[retried, 2], [
    behind,
    2,
  ]])
  await publish(two, 'org-1', 'a', 'y')
  expect(await deliver(two, arrivals)).toBe(0)

  await finishMove(moveInput('org-1', one, two))
  const left = await one.db.admin`
    select outbox.move_totals('org-1') as totals, (select count(*)::integer from outbox.org_setting) as settings`
  expect([...left]).toEqual([{
    totals: { endpoints: 0, open: 0, dead_letters: 0 },
    settings: 0,
  }])
  expect(await codeOf(publish(one, 'org-1', 'a'))).toBe('OH012')
  expect(await codeOf(createEndpoint(one, 'org-1', ['a']))).toBe('OH012')
})

/** In the short run each third call: which ones are left out makes no difference, as each step may be repeated. */
const step = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 3 : 1

Deno.test('a move that is killed after any of its calls is continued by the next run', async () => {
  for (let calls = 1;; calls += step) {
    const org = `org-${calls}`
    const endpoint = await createEndpoint(one, org, ['a'])
    await createEndpoint(one, org, ['a'], { p_ordering: 'endpoint' })
    await publish(one, org, 'a')
    await publish(one, org, 'a')
    const input = moveInput(org, one, two)
    let left = calls
    const killed = (side: Project): MoveInputSide => ({
      ...side.move,
      call: async (...call) => {
        // The transaction is committed, and its answer is lost.
        const result = await side.move.call(...call)
        if (--left === 0) throw new MoveError('killed', 'killed')
        // deno-lint-ignore no-explicit-any
        return result as any
      },
    })
    const first = moveOrg({ ...input, source: killed(one), target: killed(two) })
    const isKilled = await codeOf(first) === 'killed'
    await moveOrg(input)
    await moveOrg(input)

    const arrivals: Arrival[] = []
    await deliver(one, arrivals)
    await deliver(two, arrivals)
    expect(arrivals.filter(({ project }) => project === one)).toEqual([])
    expect(arrivals.length).toBe(4)
    expect(arrivals.filter((one) => one.endpoint === endpoint).length).toBe(2)
    if (!isKilled) break
  }
  await expectExactCounters(one.db.admin)
  await expectExactCounters(two.db.admin)
})

type MoveInputSide = Project['move']

Deno.test('a move is undone until the target delivers, and then the organisation moves back', async () => {
  const [had] = await two.db.admin`select count(*)::integer as secrets from vault.secrets`
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  const paused = await createEndpoint(one, 'org-1', ['b'])
  await one.sql`select outbox.pause_endpoint(${paused}, 'by hand')`
  const first = await publish(one, 'org-1', 'a')
  // It ends after the copy, when publishing is refused already.
  const broken = {
    ...one.move,
    call: (...call: [string, Record<string, never>]): Promise<never> =>
      call[0] === 'leave_source'
        ? Promise.reject(new MoveError('killed', 'killed'))
        : one.move.call(...call),
  }
  // deno-lint-ignore no-explicit-any
  const stopped = moveInput('org-1', one, two, { source: broken as any })
  expect(await codeOf(moveOrg(stopped))).toBe('killed')
  expect(await codeOf(publish(one, 'org-1', 'a'))).toBe('OH012')
  expect(await codeOf(publish(two, 'org-1', 'a'))).toBe('OH012')
  expect(await codeOf(one.sql`select outbox.resume_endpoint(${endpoint})`)).toBe('OH012')
  expect(await codeOf(two.sql`select outbox.resume_endpoint(${endpoint})`)).toBe('OH012')

  await undoMove(moveInput('org-1', one, two))
  const [left] = await two.db.admin`
    select (select count(*)::integer from outbox.endpoint) as endpoints, (select count(*)::integer from outbox.event) as events,
      (select count(*)::integer from outbox.gate) as gates, (select count(*)::integer from vault.secrets v) as secrets,
      (select string_agg(status, ' ') from outbox.org_move) as moves`
  expect(left).toEqual({
    endpoints: 0,
    events: 0,
    gates: 0,
    secrets: had?.secrets,
    moves: 'undone',
  })
  // A publisher that has got the name of the target meanwhile must not publish to nobody.
  expect(await codeOf(publish(two, 'org-1', 'a'))).toBe('OH012')
  const arrivals: Arrival[] = []
  await publish(one, 'org-1', 'a')
  await deliver(one, arrivals)
  expect(arrivals.length).toBe(2)
  const statuses = await one.db
    .admin`select status, status_reason from outbox.endpoint order by status`
  expect([...statuses]).toEqual([
    { status: 'enabled', status_reason: null },
    { status: 'paused', status_reason: 'by hand' },
  ])

  const second = await publish(one, 'org-1', 'a')
  await moveOrg(moveInput('org-1', one, two))
  expect(await codeOf(undoMove(moveInput('org-1', one, two)))).toBe('refused')
  await finishMove(moveInput('org-1', one, two))
  await one.sql`select outbox.purge_deleted(100)`
  await one.sql`select outbox.purge_deleted(100)`
  const third = await publish(two, 'org-1', 'a')
  await moveOrg(moveInput('org-1', two, one, { from: 'two', to: 'one' }))
  await deliver(two, arrivals)
  await deliver(one, arrivals)
  expect(arrivals.slice(2).map(({ project, event }) => [project === one, event])).toEqual([
    [true, second],
    [true, third],
  ])
  expect(arrivals.map(({ event }) => event)).toContain(first)
  await expectExactCounters(one.db.admin)
  await expectExactCounters(two.db.admin)
})

Deno.test('what cannot move, and a target that has something, are named', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  const [slack] = await one.sql<{ id: string }[]>`
    select outbox.create_slack_endpoint('https://hooks.slack.com/services/x', '{a}', 'org-1') ->> 'id' as id`
  await one.sql`select outbox.execute_saga('s', '{}', 'org-1', p_idempotency_key => 'k')`.catch(
    () => {},
  )
  const refused = await moveOrg(moveInput('org-1', one, two)).catch((error) => error.message)
  expect(refused).toBe(`endpoint ${slack?.id} is of the kind slack: only webhooks move`)
  await one.sql`select outbox.delete_endpoint(${slack?.id ?? ''})`

  const there = await createEndpoint(two, 'org-1', ['a'])
  const occupied = await moveOrg(moveInput('org-1', one, two)).catch((error) => error.message)
  expect(occupied).toBe('The target has something of org-1 already: endpoint')
  await two.sql`select outbox.delete_endpoint(${there})`
  const self = await moveOrg(moveInput('org-1', one, one)).catch((error) => error.message)
  expect(self).toContain('OUTHOOK_FROM_DB_URL and OUTHOOK_TO_DB_URL are the same database')
})

Deno.test('the source is left only when older transactions have ended', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  const early = await one.db.open()
  await early.sql`begin isolation level repeatable read`
  await early.sql`select 1 from outbox.org_move`
  const open = await one.db.open()
  await open.sql`begin`
  await open.sql`select outbox.publish('a', '{}', 'org-1')`
  const said: string[] = []
  let waits = 0
  await moveOrg(moveInput('org-1', one, two, {
    say: (text) => void said.push(text),
    pause: async (): Promise<void> => {
      waits++
      if (waits === 3) await open.sql`commit`
      if (waits === 5) {
        await early.sql`select outbox.publish('a', '{}', 'org-1')`
        await early.sql`commit`
      }
      await deliver(one, [])
    },
  }))
  expect(said.find((text) => text.startsWith('Waiting for'))).toBe(
    `Waiting for: a transaction that began before this step (process ${
      [early.pid, open.pid].toSorted((a, b) => a - b).join(', ')
    } of its server)`,
  )
  const arrivals: Arrival[] = []
  await deliver(one, arrivals)
  expect(arrivals).toEqual([])
  await deliver(two, arrivals)
  expect(arrivals.length).toBe(2)
})

Deno.test('the command moves an organisation, says what it does, and prints no secret', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'], { p_secret: secret })
  await one.sql`select outbox.set_headers(${endpoint}, '{"x-key": "confidential"}')`
  await publish(one, 'org-1', 'a')
  await deliver(one, [], () => true)
  const printed: string[] = []
  const print = (text: string): void => void printed.push(text)
  const terminal = { isInteractive: false, print, printError: print }
  const env = { OUTHOOK_FROM_DB_URL: one.db.dbUrl, OUTHOOK_TO_DB_URL: two.db.dbUrl }
  const options = {
    from: 'eu-1',
    to: 'eu-2',
    wait: 60,
    undo: false,
    finish: false,
    dryRun: false,
    yes: true,
  }
  const run = (more: Partial<typeof options>): Promise<number> =>
    runMoveOrg('org-1', { ...options, ...more }, env, terminal)

  expect(await runMoveOrg('org-1', options, { ...env, OUTHOOK_TO_DB_URL: '' }, terminal)).toBe(2)
  expect(await run({ dryRun: true })).toBe(0)
  expect(await run({ yes: false })).toBe(3)
  const [none] = await one.db.admin`select count(*)::integer as n from outbox.org_move`
  expect(none).toEqual({ n: 0 })
  expect(await run({})).toBe(0)
  expect(await run({ undo: true })).toBe(1)
  expect(await run({ finish: true })).toBe(0)
  expect(printed).toContain('The organisation is in eu-2: publish its events there')
  expect(printed.at(-1)).toBe('The source has nothing of the organisation but its history')
  const text = printed.join('\n')
  expect(['whsec_', 'confidential', one.db.dbUrl].filter((one) => text.includes(one))).toEqual([])
})
