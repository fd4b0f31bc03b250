/** Each call that changes a delivery locks its gate first, so it sees the completed change of the other. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type Call, cross, outcomeOf, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

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

const lockGate = 'select outbox.lock_gates(array[$1::uuid])'

async function setClock(seconds: number): Promise<void> {
  await db.admin`
    insert into outbox.test_clock (at) values ('2026-03-01 12:00:00Z'::timestamptz + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/** Fails one delivery of each event for good. */
async function deadLetters(run: Run, count: number): Promise<void> {
  const { deliveries } = await run.call([], count)
  expect(deliveries.length).toBe(count)
  await run.call(deliveries.map((own): Report => ({ ...report(own, 'failed'), status: 404 })))
}

const actions: [what: string, call: string][] = [
  ['cancel_delivery()', 'select outbox.cancel_delivery($1, $2)'],
  ['retry_now()', 'select outbox.retry_now($1, $2)'],
  ['schedule_retry()', `select outbox.schedule_retry($1, $2, '1 hour')`],
  ['replay()', 'select outbox.replay($1, $2)'],
]

for (const [what, call] of actions) {
  Deno.test(`${what} beside a claim of the same delivery waits for it, and is told that it is being sent`, async () => {
    const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
    const event = await publishOne(one.sql)
    const run = new Run(one.sql)
    await run.call()
    await one.sql`begin`
    const { deliveries } = await run.call([], 1)
    expect(deliveries).toMatchObject([{ event, attempt: 1 }])
    const acting = outcomeOf(other, [call, [event, endpoint]])
    await expectWaitsFor(db.admin, other, one)
    await one.sql`commit`
    expect(await acting).toBe('OH004')
    await expectExactCounters(db.admin)
    expect(await run.call(deliveries.map((own) => report(own)))).toMatchObject({ applied: 1 })
  })
}

for (const [what, call] of actions) {
  Deno.test(`${what} beside a late result of the same delivery waits for it, and counts no lost lease`, async () => {
    await setClock(0)
    const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
    const event = await publishOne(one.sql)
    const run = new Run(one.sql)
    await run.call()
    const { deliveries } = await run.call([], 1)
    await setClock(3600)
    await one.sql`begin`
    expect(await run.call(deliveries.map((own) => report(own, 'failed')))).toMatchObject({
      applied: 1,
    })
    const acting = outcomeOf(other, [call, [event, endpoint]])
    await expectWaitsFor(db.admin, other, one)
    await one.sql`commit`
    expect(typeof await acting).toBe('object')
    const attempts = await db.admin`
      select a.outcome, a.status from outbox.attempt a where a.event_id = ${event} and a.kind <> 'close'`
    expect([...attempts]).toEqual([{ outcome: 'failed', status: 503 }])
    const apart = await db.admin`
      select from outbox.gate g where g.isolated_at < 'infinity'
      union all select from outbox.delivery d where d.lost_leases > 0`
    expect(apart.length).toBe(0)
    await expectExactCounters(db.admin)
  })
}

const markedDelivered = 'select outbox.work_delivered_marks(outbox.clock()) as answer'

Deno.test('a job of mark_delivered() leaves out a gate that another session holds, and ends all others', async () => {
  const [held = ''] = await addEndpoints(one.sql, { count: 3 })
  await publishOne(one.sql)
  await new Run(one.sql).call([], 0)
  await one.sql`select outbox.mark_delivered(outbox.clock())`
  await one.sql.unsafe(markedDelivered)
  const marked = async (): Promise<unknown> => {
    const [mark] = await db.admin`
      select m.marked::integer, m.finished_at is not null as done from outbox.delivered_mark m`
    return mark
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [held])
  await other.sql`set statement_timeout = '2s'`
  for (let step = 0; step < 2; step++) await other.sql.unsafe(markedDelivered)
  await other.sql`reset statement_timeout`
  expect(await marked()).toEqual({ marked: 2, done: false })
  await one.sql`rollback`
  expect(await db.admin`select from outbox.upkeep_refusal`).toHaveLength(0)
  await db.admin`update outbox.delivered_mark set resume_at = '-infinity' where true`
  for (let step = 0; step < 2; step++) await other.sql.unsafe(markedDelivered)
  expect(await marked()).toEqual({ marked: 3, done: true })
  await expectExactCounters(db.admin)
})

Deno.test('a job of mark_delivered() leaves a delivery to a claim that holds it', async () => {
  await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  const run = new Run(one.sql)
  await run.call()
  await one.sql`select outbox.mark_delivered(outbox.clock())`
  // The step that routes.
  await one.sql.unsafe(markedDelivered)
  await one.sql`begin`
  const { deliveries } = await run.call([], 1)
  expect(deliveries).toMatchObject([{ event, attempt: 1 }])
  expect(await outcomeOf(other, [markedDelivered])).toMatchObject({ answer: true })
  await one.sql`commit`
  const [mark] = await db.admin`select marked::integer from outbox.delivered_mark`
  expect(mark).toEqual({ marked: 0 })
  await expectExactCounters(db.admin)
  expect(await run.call(deliveries.map((own) => report(own)))).toMatchObject({ applied: 1 })
})

Deno.test('a step of mark_delivered() ends after 1 s, if all deliveries are locked, and later steps end them', async () => {
  await addEndpoints(one.sql, { count: 1 })
  await publishMany(one.sql, 'thing.done', 40)
  await new Run(one.sql).call([], 0)
  await one.sql`select outbox.mark_delivered(outbox.clock())`
  await one.sql.unsafe(markedDelivered)
  await one.sql`begin`
  await one.sql`select from outbox.delivery for update`
  await other.sql`set statement_timeout = '3s'`
  expect(await outcomeOf(other, [markedDelivered])).toEqual({ answer: true })
  await other.sql`reset statement_timeout`
  await one.sql`rollback`
  const refusals = await db.admin<{ task: string }[]>`
    select distinct r.task from outbox.upkeep_refusal r`
  expect(refusals.map(({ task }) => task)).toEqual(['outbox.mark_delivered'])
  for (let step = 0; step < 3; step++) {
    await db.admin`delete from outbox.upkeep_refusal where true`
    await db.admin`update outbox.delivered_mark set resume_at = '-infinity' where true`
    await other.sql.unsafe(markedDelivered)
  }
  expect(await db.admin`select from outbox.delivery`).toHaveLength(0)
  await expectExactCounters(db.admin)
})

Deno.test('a job of mark_delivered() is not continued while another session continues it', async () => {
  await one.sql`select outbox.mark_delivered(outbox.clock())`
  await one.sql`begin`
  await one.sql.unsafe(markedDelivered)
  expect(await outcomeOf(other, [markedDelivered, []])).toMatchObject({ answer: false })
  await one.sql`commit`
})

Deno.test('replay() beside a replay of the same dead letter waits for it, and replaces what it put back', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  await deadLetters(new Run(one.sql), 1)
  const replay = 'select outbox.replay($1, $2) as answer'
  const second = await cross(db, {
    one,
    other,
    first: [replay, [event, endpoint]],
    second: [replay, [event, endpoint]],
  })
  expect(second).toMatchObject({ answer: { replaced: true } })
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('resume_lane() beside a result that halts the key waits for it, and lets the key go on', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, ordering: 'partition' })
  await one.sql`update outbox.endpoint set on_dead_letter = 'halt' where id = ${endpoint}`
  await publishOne(one.sql, 'thing.done', 'a')
  await publishOne(one.sql, 'thing.done', 'a')
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await one.sql`begin`
  await run.call(deliveries.map((own) => ({ ...report(own, 'failed'), status: 404 })))
  const resuming = outcomeOf(other, [
    `select outbox.resume_lane($1, 'a') as answer`,
    [endpoint],
  ])
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await resuming).toMatchObject({ answer: { open: 1 } })
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('discard_dead_letter() holds the gate, so that the next act in its transaction deadlocks with no run', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 3600 })
  const [dead = ''] = await publishMany(one.sql, 'thing.done', 1)
  const run = new Run(other.sql)
  await deadLetters(run, 1)
  await one.sql`select outbox.replay(${dead}, ${endpoint})`
  const again = (await run.call([], 1)).deliveries
  const open = await publishOne(one.sql)
  await run.call((await run.call([], 1)).deliveries.map((own) => report(own, 'failed')))
  await one.sql`begin`
  await one.sql`select outbox.discard_dead_letter(${dead}, ${endpoint}, 'known')`
  // The letter dies again, and so writes to the dead letter that is being discarded.
  const dying = run.call(again.map((own) => ({ ...report(own, 'failed'), status: 404 })))
  await expectWaitsFor(db.admin, other, one)
  await one.sql`select outbox.cancel_delivery(${open}, ${endpoint})`
  await one.sql`commit`
  expect(await dying).toMatchObject({ applied: 1, error: null })
  const [letter] = await one.sql`select x.discarded_at from outbox.dead_letter x`
  expect(letter).toEqual({ discarded_at: null })
  await expectExactCounters(db.admin)
})

/** A dead letter of a broker, which task dlq:replay has claimed or not. */
async function brokerLetter(isClaimed: boolean): Promise<{ event: string; endpoint: string }> {
  const broker = { brokers: ['kafka.example.com:9093'], topic: 'orders', dlq_topic: null }
  const [made] = await one.sql<{ id: string }[]>`
    select outbox.create_broker_endpoint('kafka', ${one.sql.json(broker)}, p_ordering => 'none')
      ->> 'id' as id`
  const endpoint = made?.id ?? ''
  const noRetries = { strategy: 'fixed', base_delay: 0, max_retries: 0 }
  await db.admin`
    update outbox.endpoint set retry = ${db.admin.json(noRetries)} where id = ${endpoint}`
  const event = await publishOne(one.sql)
  await deadLetters(new Run(one.sql), 1)
  if (isClaimed) {
    await one.sql`select outbox.claim_broker_replay(${event}, ${endpoint}, 'kafka', 'orders')`
  }
  return { event, endpoint }
}

/** Calls this function while another session, which holds the gate, replays the same dead letter. */
async function besideReplay(
  name: 'claim_broker_replay' | 'record_broker_replay',
): Promise<unknown> {
  const { event, endpoint } = await brokerLetter(name === 'record_broker_replay')
  await one.sql`begin`
  await one.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
  const more = name === 'claim_broker_replay' ? `, 'kafka', 'orders'` : ''
  const calling = outcomeOf(other, [
    `select outbox.${name}($1, $2${more}) as answer`,
    [event, endpoint],
  ])
  // It holds no row of the dead letter yet, which the replay changes.
  await expectWaitsFor(db.admin, other, one)
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await one.sql`commit`
  const outcome = await calling
  await expectExactCounters(db.admin)
  return outcome
}

Deno.test('claim_broker_replay() holds the gate, so that it waits for a replay of the same dead letter and leaves it', async () => {
  expect(await besideReplay('claim_broker_replay')).toMatchObject({ answer: { claimed: false } })
})

Deno.test('record_broker_replay() holds the gate, so that it waits for a replay of the same dead letter and leaves it', async () => {
  expect(await besideReplay('record_broker_replay')).toMatchObject({ answer: { recorded: false } })
})

Deno.test('end_broker_claims() passes over a gate that another session holds, and opens its dead letter after that', async () => {
  await setClock(0)
  const { endpoint } = await brokerLetter(true)
  await setClock(7200)
  const end = async (): Promise<unknown> => {
    await other.sql`select outbox.end_broker_claims(outbox.clock(), 100)`
    const [row] = await db.admin`select x.at_broker from outbox.dead_letter x`
    return row?.at_broker
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  await other.sql`set lock_timeout = '500ms'`
  const whileHeld = await end()
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect([whileHeld, await end()]).toEqual([true, false])
})

Deno.test('end_broker_claims() leaves a dead letter of a purged endpoint that record_broker_replay() opens again', async () => {
  await setClock(0)
  const { event, endpoint } = await brokerLetter(true)
  await db.admin`select outbox.create_endpoint('https://ops.example', '{outhook.*}', 'outhook')`
  await db.admin`delete from outbox.gate g where g.endpoint_id = ${endpoint}`
  await setClock(7200)
  await one.sql`begin`
  await one.sql`select outbox.record_broker_replay(${event}, ${endpoint}, false)`
  let isDone = false
  const ending = outcomeOf(other, ['select outbox.end_broker_claims(outbox.clock(), 100)'])
    .then((outcome) => {
      isDone = true
      return outcome
    })
  // It does not wait. If it did, it would go on with what it has read before the other session commits.
  await waitUntil(async () => {
    const [row] = await db
      .admin`select cardinality(pg_blocking_pids(${other.pid}::integer)) > 0 as waits`
    return isDone || row?.waits === true
  }, { timeoutMs: patienceMs, everyMs: 5 })
  await one.sql`commit`
  expect(await ending).toEqual({ end_broker_claims: '' })
  await other.sql`select outbox.end_broker_claims(outbox.clock() + interval '10 s', 100)`
  const announced = await db.admin`
    select e.type from outbox.event e where e.org_id = 'outhook' and e.created_at > outbox.clock() - interval '1 hour'`
  expect(announced.map(({ type }) => type)).toEqual(['outhook.delivery.dead_lettered'])
})

Deno.test('a step of a replay job leaves a letter whose gate another session holds to it', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  await deadLetters(new Run(one.sql), 1)
  await one.sql`select outbox.replay_many()`
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  const step: Call = ['select outbox.work_replay_jobs(outbox.clock()) as put']
  expect(await outcomeOf(other, step)).toEqual({ put: 0 })
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await one.sql`commit`
  expect(await outcomeOf(other, step)).toEqual({ put: 0 })
  expect(await drain(one.sql)).toBe(1)
  expect(await db.admin`select from outbox.upkeep_refusal`).toHaveLength(0)
  await expectExactCounters(db.admin)
})

Deno.test('dispatch() that waits for the gate of a result has not changed its delivery yet', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  const run = new Run(other.sql)
  const { deliveries: [own] } = await run.call([], 1)
  if (own === undefined) throw new Error('nothing was claimed')
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  const reporting = run.call([report(own)])
  await expectWaitsFor(db.admin, other, one)
  await one.sql`set local lock_timeout = '500ms'`
  await one.sql`
    select from outbox.delivery d join outbox.lane l on l.id = d.lane_id
    where d.event_id = ${own.event} for update`
  await one.sql`commit`
  expect(await reporting).toMatchObject({ applied: 1, error: null })
  await expectExactCounters(db.admin)
})

Deno.test('record_refused() that waits for the gate of a result has not changed its delivery yet', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  const { deliveries: [own] } = await new Run(other.sql).call([], 1)
  if (own === undefined) throw new Error('nothing was claimed')
  const recorded = await cross(db, {
    one,
    other,
    first: [lockGate, [endpoint]],
    second: [
      'select outbox.record_refused($1::text::jsonb, outbox.clock()) as n',
      [JSON.stringify([report(own)])],
    ],
    meanwhile: async () => {
      await one.sql`set local lock_timeout = '500ms'`
      await one.sql`
        select from outbox.delivery d join outbox.lane l on l.id = d.lane_id
        where d.event_id = ${own.event} for update`
    },
  })
  expect(recorded).toEqual({ n: 1 })
  await expectExactCounters(db.admin)
})

Deno.test('retry_now() of a delivery that was refused to be made waits for the gate before it makes it', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  const event = await publishOne(one.sql)
  await db.admin`
    insert into outbox.refusal (
      event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
    values (${event}, ${endpoint}, 'routing', 1, 'P0001', 'refused', now(), 'infinity')`
  await cross(db, {
    one,
    other,
    first: [lockGate, [endpoint]],
    second: ['select outbox.create_refused($1, $2, outbox.clock())', [event, endpoint]],
    meanwhile: async () => {
      await one.sql`set local lock_timeout = '500ms'`
      expect(await one.sql`select from outbox.lane l for update`).toHaveLength(1)
    },
  })
  expect(await db.admin`select from outbox.delivery`).toHaveLength(2)
  await expectExactCounters(db.admin)
})

Deno.test('create_waiting() passes over a gate that another session holds, and takes it after that', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  const event = await publishOne(one.sql)
  await db.admin`
    insert into outbox.refusal (
      event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
    values (${event}, ${endpoint}, 'routing', 1, '40P01', 'refused', now(), now())`
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [endpoint]],
    call: ['select outbox.create_waiting(outbox.clock(), 10) as created'],
  })
  expect(outcomes).toEqual([{ created: 0 }, { created: 1 }])
  expect(await db.admin`select from outbox.refusal`).toHaveLength(0)
  await expectExactCounters(db.admin)
})

Deno.test('due_gates() passes over a gate that another session holds, and takes it after that', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [endpoint]],
    call: ['select outbox.due_gates(10, outbox.clock()) as due'],
  })
  expect(outcomes).toEqual([{ due: null }, { due: [endpoint] }])
})

Deno.test('due_isolated_gate() passes over a gate that another session holds, and takes the next one', async () => {
  const [endpoint = '', next = ''] = await addEndpoints(one.sql, { count: 2 })
  await db.admin`
    update outbox.gate g
    set isolated_at = case when g.endpoint_id = ${endpoint} then '2026-01-01' else '2026-01-02' end::timestamptz
    where true`
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [endpoint]],
    call: ['select outbox.due_isolated_gate(outbox.clock()) as due'],
  })
  expect(outcomes).toEqual([{ due: next }, { due: endpoint }])
})

Deno.test('try_lock_gates() passes over a gate that another session holds, and takes the others', async () => {
  const [endpoint = '', next = ''] = await addEndpoints(one.sql, { count: 2 })
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [endpoint]],
    call: [
      'select array(select unnest(outbox.try_lock_gates(array[$1, $2]::uuid[])) order by 1) as locked',
      [endpoint, next],
    ],
  })
  expect(outcomes).toEqual([{ locked: [next] }, { locked: [endpoint, next].sort() }])
})

Deno.test('lock_free_gates() leaves out a gate that another session holds, and takes all others', async () => {
  const [endpoint = '', next = ''] = await addEndpoints(one.sql, { count: 2 })
  const none = crypto.randomUUID()
  /** What it returns, and how many of the gates a third session then finds free. */
  const locked = async (held: string | null): Promise<unknown> => {
    await other.sql`begin`
    const found = await outcomeOf(other, [
      `select array(select unnest(outbox.lock_free_gates(
        array[$1, $2, $3]::uuid[], array_remove(array[$4]::uuid[], null))) order by 1) as gates`,
      [endpoint, next, none, held],
    ])
    const free = (await db.admin`select from outbox.gate for update skip locked`).length
    await other.sql`rollback`
    return { found, free }
  }
  await other.sql`set statement_timeout = '2s'`
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  for (const held of [null, endpoint]) {
    expect(await locked(held)).toEqual({ found: { gates: [next, none].sort() }, free: 0 })
  }
  await one.sql`rollback`
  expect(await locked(null)).toEqual({
    found: { gates: [endpoint, next, none].sort() },
    free: 0,
  })
  await other.sql`reset statement_timeout`
})

Deno.test('two runs that hold nothing get two different isolated deliveries', async () => {
  await setClock(0)
  await addEndpoints(one.sql, { count: 2 })
  const event = await publishOne(one.sql)
  const dead = new Run(one.sql)
  await dead.call()
  for (const second of [0, 30]) {
    await setClock(second)
    expect((await dead.call([], 10)).deliveries.length).toBe(2)
    await setClock(second + 20)
    await dead.call([], 10)
  }
  await setClock(60)
  await one.sql`begin`
  const first = await new Run(one.sql).call([], 10)
  const second = await new Run(other.sql).call([], 10)
  await one.sql`commit`
  expect(first.deliveries).toMatchObject([{ event, attempt: 3 }])
  expect(second.deliveries).toMatchObject([{ event, attempt: 3 }])
  expect(first.deliveries[0]?.endpoint).not.toBe(second.deliveries[0]?.endpoint)
  await expectExactCounters(db.admin)
})

const suspect = `insert into outbox.endpoint_refusal
  (endpoint_id, failures, sqlstate, error, at, again_at)
  values ($1, 1, '57014', 'late', outbox.clock(), outbox.clock())`

Deno.test('due_gates() goes on beside a session that tries a refused endpoint alone', async () => {
  const [bad = ''] = await addEndpoints(one.sql, { count: 1 })
  const [good = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await db.admin.unsafe(suspect, [bad])
  const due = 'select outbox.due_gates(10, outbox.clock()) as due'
  const outcomes = await passing({ one, other, holding: [due], call: [due] })
  expect(outcomes[0]).toEqual({ due: [good] })
  expect(outcomes[1]).toEqual({ due: [bad] })
})

Deno.test('due_gates() passes over the gate of a refused endpoint that another session holds', async () => {
  const [bad = ''] = await addEndpoints(one.sql, { count: 1 })
  const [good = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await db.admin.unsafe(suspect, [bad])
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [bad]],
    call: ['select outbox.due_gates(10, outbox.clock()) as due'],
  })
  expect(outcomes).toEqual([{ due: [good] }, { due: [bad] }])
})

Deno.test('turn_ring() leaves the ring to a call that is turning it', async () => {
  const turn = `select outbox.turn_ring('2026-03-01 12:00:00Z') is not null as done`
  const outcomes = await passing({
    one,
    other,
    holding: [`select outbox.turn_ring('2026-03-01 11:00:00Z')`],
    call: [turn],
  })
  expect(outcomes[0]).toEqual({ done: true })
  const [row] = await db
    .admin`select r.from_at = '2026-03-01 12:00:00Z' as turned from outbox.ring r`
  expect(row).toEqual({ turned: true })
  await db.admin`update outbox.ring set from_at = '-infinity' where true`
})

Deno.test('touch_run() of a second call of one run does not wait for the first, and notes it later', async () => {
  await setClock(0)
  const run = crypto.randomUUID()
  const touch = `select outbox.touch_run($1, 'worker', outbox.clock(), false) as stop`
  await one.sql.unsafe(touch, [run])
  await setClock(1)
  const outcomes = await passing({
    one,
    other,
    holding: [touch, [run]],
    call: [touch, [run]],
  })
  expect(outcomes).toEqual([{ stop: null }, { stop: null }])
  const [row] = await db.admin`select r.polled_at = outbox.clock() as noted from outbox.run r`
  expect(row).toEqual({ noted: true })
})

Deno.test('refuse_contract() of a run does not wait for another call of it, and ends the run later', async () => {
  await setClock(0)
  const run = crypto.randomUUID()
  await one.sql`select outbox.touch_run(${run}, 'worker', outbox.clock(), false)`
  const refuse = `select outbox.refuse_contract($1, '{"oldest": 9, "newest": 9}', 'worker',
    0, outbox.clock()) ->> 'stop' as stop`
  const outcomes = await passing({
    one,
    other,
    holding: ['select from outbox.run r where r.id = $1 for update', [run]],
    call: [refuse, [run]],
  })
  expect(outcomes).toEqual([{ stop: 'contract' }, { stop: 'contract' }])
  const [row] = await db.admin`select r.ended_at = outbox.clock() as ended from outbox.run r`
  expect(row).toEqual({ ended: true })
})

Deno.test('wake_changed() passes over a gate that another session holds, and wakes it after that', async () => {
  await setClock(0)
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await db.admin`update outbox.gate set next_at = outbox.clock() + interval '1 hour' where true`
  const due = async (): Promise<unknown> => {
    const [row] = await db.admin`select g.next_at <= outbox.clock() as due from outbox.gate g`
    return row?.due
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  await other.sql`set lock_timeout = '500ms'`
  await other.sql`select outbox.wake_changed(outbox.clock())`
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await due()).toBe(false)
  await other.sql`select outbox.wake_changed(outbox.clock())`
  expect(await due()).toBe(true)
})

Deno.test('wake_missed() passes over a gate that another session holds, and wakes it after that', async () => {
  await setClock(0)
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await db.admin`update outbox.ring set from_at = outbox.clock() - interval '2 s' where true`
  await db.admin`update outbox.gate set next_at = outbox.clock() - interval '5 s' where true`
  const missed = async (): Promise<unknown> => {
    const [row] = await db.admin`select g.next_at < outbox.clock() as missed from outbox.gate g`
    return row?.missed
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  await other.sql`set lock_timeout = '500ms'`
  await other.sql`select outbox.wake_missed(outbox.clock())`
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await missed()).toBe(true)
  await other.sql`select outbox.wake_missed(outbox.clock())`
  expect(await missed()).toBe(false)
  await db.admin`update outbox.ring set from_at = '-infinity' where true`
})

Deno.test('wake_refused() passes over a gate that another session holds, and wakes it after that', async () => {
  await setClock(0)
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  // As after a refusal of the first change of next_at.
  await db.admin`update outbox.gate set next_at = 'infinity' where true`
  await db.admin`
    insert into outbox.endpoint_refusal (endpoint_id, failures, sqlstate, error, at, again_at)
    values (${endpoint}, 1, 'P0001', 'a test', outbox.clock(), outbox.clock())`
  const isDue = async (): Promise<unknown> => {
    const [row] = await db.admin`select g.next_at <= outbox.clock() as due from outbox.gate g`
    return row?.due
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  await other.sql`set lock_timeout = '500ms'`
  await other.sql`select outbox.wake_refused(outbox.clock())`
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await isDue()).toBe(false)
  await other.sql`select outbox.wake_refused(outbox.clock())`
  expect(await isDue()).toBe(true)
})

Deno.test('park_unsent() passes over a gate that another session holds, and parks it after that', async () => {
  // In the first 5 s of each 15 s it parks nothing.
  await setClock(5)
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await db.admin`delete from outbox.run where true`
  const isDue = async (): Promise<unknown> => {
    const [row] = await db.admin`select g.next_at <= outbox.clock() as due from outbox.gate g`
    return row?.due
  }
  const park =
    `select outbox.park_unsent(outbox.clock()) from (select outbox.set_run_kinds('[]') offset 0) k`
  expect(await isDue()).toBe(true)
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  await other.sql`set lock_timeout = '500ms'`
  await other.sql.unsafe(park)
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await isDue()).toBe(true)
  await other.sql.unsafe(park)
  expect(await isDue()).toBe(false)
})

Deno.test('lock_router() gives routing to one session alone, and the failed step of another counts once it is free', async () => {
  const event = await publishOne(one.sql)
  const outcomes = await passing({
    one,
    other,
    holding: ['select outbox.lock_router()'],
    call: [`select (outbox.lock_router()).turn is null as busy`],
  })
  expect(outcomes).toEqual([{ busy: true }, { busy: false }])
  const failures = async (): Promise<unknown> => {
    const [row] = await db.admin`
      select u.failures, r.batch from outbox.unrouted u, outbox.router r where u.event_id = ${event}`
    return row
  }
  const [before] = await db.admin<{ batch: number }[]>`select r.batch from outbox.router r`
  const shrunk = await passing({
    one,
    other,
    holding: ['select outbox.lock_router()'],
    call: [
      `select outbox.shrink_routing(array[$1::uuid], 'slow', outbox.clock()) is not null as done`,
      [event],
    ],
  })
  expect(shrunk).toEqual([{ done: true }, { done: true }])
  // The call that found the router busy noted its timeout, and the next one counted both.
  const eighth = (batch: number): number => Math.max(1, Math.floor(batch / 8))
  expect(await failures()).toEqual({ failures: 2, batch: eighth(eighth(before?.batch ?? NaN)) })
})

Deno.test('read_unrouted() leaves a batch to the session that is routing it', async () => {
  await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  const outcomes = await passing({
    one,
    other,
    holding: ['select outbox.read_unrouted()'],
    call: ['select (outbox.read_unrouted()).events as events'],
  })
  expect(outcomes).toEqual([{ events: null }, { events: [event] }])
})
