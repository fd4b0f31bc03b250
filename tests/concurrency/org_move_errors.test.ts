/** A move of an organisation that fails at any point, is undone, or finds other databases than it has left. */

import { expect } from '@std/expect'
import { connectMove, MoveError } from '../../package/command/move_org/database.ts'
import { finishMove, moveOrg, undoMove } from '../../package/command/move_org/move.ts'
import { expectExactCounters } from './_support/checks.ts'
import {
  type Arrival,
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
  const move = connectMove(one.db.dbUrl, 'source', 'move-org')
  try {
    const { is_known } = await move.call<{ is_known: boolean }>('move_status', { org_id: 'org-1' })
    expect(is_known).toBe(true)
  } finally {
    await move.close()
    await one.db.admin`alter database postgres reset statement_timeout`
  }
})

Deno.test('a move that ends with an error of the connection names the side and says how to go on', async () => {
  const move = connectMove(
    'postgresql://postgres:confidential@127.0.0.1:1/postgres',
    'target',
    'move-org',
  )
  const error: MoveError = await move.call('move_status', { org_id: 'org-1' })
    .then(() => new MoveError('connected', ''), (error) => error)
  await move.close()
  expect([error.message, error.hint]).toEqual([
    'target: the connection failed (ECONNREFUSED)',
    'Run the same outhook move-org command again: it continues',
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
