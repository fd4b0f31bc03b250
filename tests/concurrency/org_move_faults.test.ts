/** What happens beside the move of an organisation: late transactions, people who change things, jobs, a second command. */

import { expect } from '@std/expect'
import { setTimeout as delay } from 'node:timers/promises'
import { connectMove, MoveError } from '../../package/command/move_org/database.ts'
import { finishMove, moveOrg, undoMove } from '../../package/command/move_org/move.ts'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
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

/** A side that runs `beside` before its first call of `name`. */
function before(side: Project, name: string, beside: () => Promise<unknown>): Project['move'] {
  let isDone = false
  return {
    ...side.move,
    call: async (called, ...rest) => {
      if (called === name && !isDone) {
        isDone = true
        await beside()
      }
      return await side.move.call(called, ...rest)
    },
  }
}

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
  const closer = await one.db.open()
  const publisher = await one.db.open()
  await closer.sql`begin`
  await closer.sql`select outbox.close_source('org-1')`
  await publisher.sql`begin`
  await publisher.sql`select outbox.publish('a', '{}', 'org-1')`
  await closer.sql`commit`
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

Deno.test('a delivery that the source creates after the switch is sent by the target', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  const other = await createEndpoint(one, 'org-1', ['b'])
  const known = await publish(one, 'org-1', 'a')
  let late = ''
  const asItself = async (...statements: string[]): Promise<void> => {
    await one.sql.unsafe(
      `begin; select set_config('outbox.moving', 'org-1', true); ${statements.join('; ')}; commit`,
    )
  }
  await moveOrg(moveInput('org-1', one, two, {
    target: before(two, 'open_target', async () => {
      // An event of Outhook itself, and a delivery of an event that the target knows.
      const [row] = await one.sql<{ id: string }[]>`
        select outbox.put_event(outbox.new_event(outbox.clock(), 'a', '{"late": true}', 'org-1', null, null,
          'late-key', null, null, null), true) as id`
      late = row?.id ?? ''
      await deliver(one, [])
      await asItself(
        `insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
         values ('${known}', '${other}', 1, outbox.clock(), 'close', 'cancelled')`,
        `select outbox.reopen_delivery('${known}', '${other}', 0, outbox.clock())`,
      )
    }),
  }))
  const arrivals: Arrival[] = []
  await deliver(one, arrivals)
  expect(arrivals).toEqual([])
  await deliver(two, arrivals)
  expect(arrivals.map(({ event, endpoint }) => `${event} ${endpoint}`).toSorted()).toEqual(
    [`${known} ${endpoint}`, `${known} ${other}`, `${late} ${endpoint}`].toSorted(),
  )
  // A publisher that repeats it gets its id.
  expect(
    await two
      .sql`select outbox.publish_raw('a', '{"late": true}', 'org-1', p_idempotency_key => 'late-key') as id`,
  ).toEqual([{ id: late }])
  const [left] = await one.db.admin`select count(*)::integer as n from outbox.delivery`
  expect(left).toEqual({ n: 0 })
})

Deno.test('a source that was restored to a time before the switch follows the target, and no undo opens it', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  const event = await publish(one, 'org-1', 'a')
  const input = moveInput('org-1', one, two)
  const stopped = before(one, 'open_pairs', () => Promise.reject(new MoveError('killed', 'killed')))
  expect(await codeOf(moveOrg({ ...input, source: stopped }))).toBe('killed')
  await one.db.admin`update outbox.org_move set status = 'closed', settled_at = null`
  expect(await codeOf(undoMove(moveInput('org-1', one, two)))).toBe('refused')
  await moveOrg(moveInput('org-1', one, two))
  const arrivals: Arrival[] = []
  await deliver(one, arrivals)
  await deliver(two, arrivals)
  expect(arrivals.map((one) => [one.project === two, one.event])).toEqual([[true, event]])
})

Deno.test('other names, other databases and an unknown organisation are refused', async () => {
  const three = await startProject('third')
  try {
    await createEndpoint(one, 'org-1', ['a'])
    const messageOf = (work: Promise<void>): Promise<string> =>
      work.then(() => 'done', (error) => error.message)
    expect(await messageOf(moveOrg(moveInput('org-2', one, two)))).toBe(
      'The source has nothing of org-2: check the name, --from and --to',
    )
    expect(await messageOf(undoMove(moveInput('org-1', one, two)))).toBe(
      'There is no move of org-1 from one to two that could be undone',
    )
    const stopped = before(
      one,
      'leave_source',
      () => Promise.reject(new MoveError('killed', 'killed')),
    )
    const said: string[] = []
    expect(
      await codeOf(moveOrg(moveInput('org-1', one, two, {
        source: stopped,
        say: (text) => void said.push(text),
      }))),
    ).toBe('killed')
    expect(said.at(-1)).toContain('Nobody can publish for the organisation now')
    expect(await messageOf(moveOrg(moveInput('org-1', one, two, { to: 'three' })))).toBe(
      'The move was begun with --to two, not three: give the same name',
    )
    expect(await messageOf(moveOrg(moveInput('org-1', one, two, { from: 'zero' })))).toBe(
      'The move was begun with --from one, not zero: give the same name',
    )
    expect(await messageOf(moveOrg(moveInput('org-1', one, three)))).toContain(
      'OUTHOOK_TO_DB_URL is not the database to which the organisation moves',
    )
    const wrongSource =
      'OUTHOOK_FROM_DB_URL is not the database from which the target receives the organisation'
    await createEndpoint(three, 'org-1', ['a'])
    expect(await messageOf(undoMove(moveInput('org-1', three, two)))).toBe(wrongSource)
    expect(await messageOf(moveOrg(moveInput('org-1', three, two)))).toBe(wrongSource)
    // Databases of one backup have the same id: otherwise it tells them apart too.
    await two.db.admin`update outbox.org_move set other_database = 'another'`
    expect(await messageOf(undoMove(moveInput('org-1', one, two)))).toBe(
      'The move was begun with another database than that of OUTHOOK_FROM_DB_URL',
    )
    await two.db.admin`update outbox.org_move set other_database = null`
    // In the wrong direction.
    expect(await messageOf(undoMove(moveInput('org-1', two, one, { from: 'two', to: 'one' }))))
      .toBe('There is no move of org-1 from two to one that could be undone')
    expect(await messageOf(moveOrg(moveInput('org-1', two, one, { from: 'two', to: 'one' }))))
      .toContain('another move of organisation org-1 is closed')
    await undoMove(moveInput('org-1', one, two))
    expect(await publish(one, 'org-1', 'a')).not.toBe('')
  } finally {
    await three[Symbol.asyncDispose]()
  }
})

Deno.test('a delivery that ends in the source after the comparison leads to another comparison', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  const event = await publish(one, 'org-1', 'a')
  let looks = 0
  await moveOrg(moveInput('org-1', one, two, {
    target: {
      ...two.move,
      call: async (...call) => {
        // It is looked at to choose what to do, and then after the comparison.
        if (call[0] === 'move_status' && ++looks === 2) {
          await one.sql.unsafe(`begin; select set_config('outbox.moving', 'org-1', true);
            select outbox.cancel_delivery('${event}', '${endpoint}'); commit`)
        }
        return await two.move.call(...call)
      },
    },
  }))
  const arrivals: Arrival[] = []
  await deliver(two, arrivals)
  expect(arrivals).toEqual([])
})

Deno.test('the history of an endpoint keeps its row if a move back is undone', async () => {
  const endpoint = await createEndpoint(one, 'org-1', ['a'])
  await publish(one, 'org-1', 'a')
  await deliver(one, [])
  await moveOrg(moveInput('org-1', one, two))
  await finishMove(moveInput('org-1', one, two))
  await one.sql`select outbox.purge_deleted(100)`
  await one.sql`select outbox.purge_deleted(100)`
  const back = moveInput('org-1', two, one, { from: 'two', to: 'one' })
  const stopped = before(
    two,
    'leave_source',
    () => Promise.reject(new MoveError('killed', 'killed')),
  )
  expect(await codeOf(moveOrg({ ...back, source: stopped }))).toBe('killed')
  await undoMove(moveInput('org-1', two, one, { from: 'two', to: 'one' }))
  const rows = await one.db.admin`select id, status, is_purged from outbox.endpoint`
  expect([...rows]).toEqual([{ id: endpoint, status: 'deleted', is_purged: true }])
  await moveOrg(moveInput('org-1', two, one, { from: 'two', to: 'one' }))
  const again = await one.db.admin`select id, status from outbox.endpoint`
  expect([...again]).toEqual([{ id: endpoint, status: 'enabled' }])
})

Deno.test('the statement timeout of a role does not end a step', async () => {
  await createEndpoint(one, 'org-1', ['a'])
  await one.db.admin`alter database postgres set statement_timeout = '1ms'`
  const move = connectMove(one.db.dbUrl, 'source')
  try {
    const { is_known } = await move.call<{ is_known: boolean }>('move_status', { org_id: 'org-1' })
    expect(is_known).toBe(true)
  } finally {
    await move.close()
    await one.db.admin`alter database postgres reset statement_timeout`
  }
})

Deno.test('a move that ends with an error of the connection names the side and says how to go on', async () => {
  const move = connectMove('postgresql://postgres:confidential@127.0.0.1:1/postgres', 'target')
  const error: MoveError = await move.call('move_status', { org_id: 'org-1' })
    .then(() => new MoveError('connected', ''), (error) => error)
  await move.close()
  expect([error.message, error.hint]).toEqual([
    'target: the connection failed (ECONNREFUSED)',
    'Run the same command again: it continues',
  ])
})

/** Both sides, of which the first `left` calls are executed. The answer of the last one is lost. */
function killedAfter(left: number): { source: Project['move']; target: Project['move'] } {
  const kill = (side: Project): Project['move'] => ({
    ...side.move,
    call: async (...call) => {
      // deno-lint-ignore no-explicit-any
      const result: any = await side.move.call(...call)
      if (--left === 0) throw new MoveError('killed', 'killed')
      return result
    },
  })
  return { source: kill(one), target: kill(two) }
}

/** In the short run each fourth call: which ones are left out makes no difference. */
const step = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 4 : 1

Deno.test('a move that is killed after any of its calls is undone, or goes on if the target delivers', async () => {
  let isKilled = true
  for (let calls = 1; isKilled; calls += step) {
    const org = `org-${calls}`
    await createEndpoint(one, org, ['a'])
    const event = await publish(one, org, 'a')
    const input = moveInput(org, one, two)
    isKilled = await codeOf(moveOrg({ ...input, ...killedAfter(calls) })) === 'killed'
    const refusal = await undoMove(moveInput(org, one, two)).then(
      () => '',
      (error) => error.message,
    )
    const goesOn = refusal.startsWith('The target delivers already')
    if (goesOn) await moveOrg(moveInput(org, one, two))
    else {expect(['', `There is no move of ${org} from one to two that could be undone`]).toContain(
        refusal,
      )}
    const arrivals: Arrival[] = []
    await deliver(one, arrivals)
    await deliver(two, arrivals)
    expect(arrivals.map((one) => [one.project === two, one.event])).toEqual([[goesOn, event]])
    expect(await codeOf(publish(goesOn ? two : one, org, 'a'))).toBe(null)
    await deliver(goesOn ? two : one, [])
  }
  await expectExactCounters(one.db.admin)
  await expectExactCounters(two.db.admin)
})

Deno.test('an undo and an end that are killed after any of their calls are continued', async () => {
  let isKilled = true
  for (let calls = 1; isKilled; calls++) {
    const org = `org-${calls}`
    await createEndpoint(one, org, ['a'])
    const event = await publish(one, org, 'a')
    const stopped = before(
      one,
      'leave_source',
      () => Promise.reject(new MoveError('killed', 'killed')),
    )
    expect(await codeOf(moveOrg(moveInput(org, one, two, { source: stopped })))).toBe('killed')
    isKilled =
      await codeOf(undoMove({ ...moveInput(org, one, two), ...killedAfter(calls) })) === 'killed'
    await codeOf(undoMove(moveInput(org, one, two)))
    const arrivals: Arrival[] = []
    await deliver(one, arrivals)
    expect(arrivals.map(({ event }) => event)).toEqual([event])

    await one.sql`select outbox.put_event_type(${org}, 'a')`
    await moveOrg(moveInput(org, one, two))
    await codeOf(finishMove({ ...moveInput(org, one, two), ...killedAfter(calls) }))
    await moveOrg(moveInput(org, one, two))
    await finishMove(moveInput(org, one, two))
    const [left] = await one.db.admin`
      select (select count(*)::integer from outbox.event_type) as types,
        (select count(*)::integer from outbox.endpoint where status <> 'deleted') as endpoints`
    expect(left).toEqual({ types: 0, endpoints: 0 })
  }
})
