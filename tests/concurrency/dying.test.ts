/** A call may end at any row that it changes: made again, it does what it would have done. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, type Report, report, type WholeAnswer } from './_support/dispatch.ts'
import {
  allRows,
  dieAt,
  differences,
  knownIds,
  makeMortal,
  placeOfDeath,
  sequences,
} from './_support/dying.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishOne } from './_support/publish.ts'
import { messagesUnderWay } from './_support/callbacks.ts'
import { Random } from './_support/random.ts'

let db: OutboxDatabase
let session: Session
let call: Parameters<typeof dispatch>[1]

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  session = await db.open()
  await db.reset()
  call = await underWay(session.sql)
  await makeMortal(session.sql)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function setClock(sql: Sql, seconds: number): Promise<void> {
  await sql`
    insert into outbox.test_clock (at) values ('2026-03-01 12:00:00Z'::timestamptz + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/**
 * The call that has everything to do: results of each kind, a breaker that opens and one that closes, an
 * endpoint that is gone, dead letters, a renewal, events to route for old keys, new ones and nobody, and
 * to claim what a run has lost, what waits for its retry, what is new and a probe.
 */
async function underWay(sql: Sql): Promise<Parameters<typeof dispatch>[1]> {
  const run = crypto.randomUUID()
  const lost = crypto.randomUUID()
  await setClock(sql, 0)
  const ordered = await addEndpoints(sql, { count: 2, ordering: 'partition' })
  const [plain = '', gone = '', slow = ''] = await addEndpoints(sql, { count: 3 })
  const [opens = '', closes = '', probed = ''] = await addEndpoints(sql, {
    count: 3,
    breakerThreshold: 1,
  })
  await publishOne(sql, 'thing.done', 'a')
  // The lease of one of them is lost; two breakers open.
  const first = await dispatch(sql, { run: lost, seq: 1, limit: 100 })
  expect(first.deliveries.length).toBe(8)
  await dispatch(sql, {
    run: lost,
    seq: 2,
    results: first.deliveries.filter(({ endpoint }) => endpoint !== slow)
      .map((own) => report(own, [closes, probed].includes(own.endpoint) ? 'failed' : 'delivered')),
  })
  await setClock(sql, 5)
  for (const key of ['a', 'b']) await publishOne(sql, 'thing.done', key)
  const { deliveries } = await dispatch(sql, { run, seq: 1, limit: 100 })
  const probe = deliveries.filter(({ endpoint }) => endpoint === probed)
  await dispatch(sql, { run, seq: 2, results: probe.map((own) => report(own, 'failed')) })
  // A run of long ago, which the first call of the next one forgets.
  await setClock(sql, -7200)
  await dispatch(sql, { run: crypto.randomUUID(), seq: 1 })
  await setClock(sql, 22)
  for (const key of ['a', 'c', null]) await publishOne(sql, 'thing.done', key)
  await sql`select outbox.publish('thing.done', '{}', p_org_id => 'nobody')`
  let ofPlain = 0
  const results = deliveries.flatMap((own): Report[] => {
    if (own.endpoint === probed || own.endpoint === slow) return []
    if (own.endpoint === ordered[0]) return [report(own, 'renew')]
    if (own.endpoint === gone) return [{ ...report(own, 'failed'), status: 410 }]
    if (own.endpoint === opens) return [report(own, 'failed')]
    if (own.endpoint !== plain) return [report(own, 'delivered')]
    ofPlain += 1
    return [ofPlain === 1 ? { ...report(own, 'failed'), status: 404 } : report(own, 'released')]
  })
  return { run, seq: 11, results, limit: 40 }
}

/** Everything that such a call changes, by what it does to which table. */
const PLACES = [
  'delete delivery',
  'delete lane',
  'delete run_batch',
  'delete unrouted',
  'insert attempt',
  'insert counter_change',
  'insert dead_letter',
  'insert delivery',
  'insert event',
  'insert lane',
  'insert run_batch',
  'insert unrouted',
  'update delivery',
  'update endpoint',
  'update gate',
  'update lane',
  'update ring',
  'update router',
  'update run',
  'update run_batch',
]

/** The same of a call for messages. */
const MESSAGE_PLACES = [
  'delete delivery',
  'delete unrouted',
  'insert activity',
  'insert attempt',
  'insert audit_event',
  'insert channel_hold',
  'insert counter_change',
  'insert dead_letter',
  'insert delivery',
  'insert event',
  'insert lane',
  'insert message_attempt',
  'insert run_batch',
  'insert unrouted',
  'update delivery',
  'update endpoint',
  'update gate',
  'update lane',
  'update message_attempt',
  'update outbound_message',
  'update router',
  'update run_batch',
]

/** What an answer says beside what differs from call to call. */
/** Without the problem: it names the tick, which does not run here, once the trials have taken 90 s. */
function plain(answer: WholeAnswer): unknown {
  return { ...answer, problem: null, endpoints: Object.keys(answer.endpoints).sort() }
}

/** Makes a call die at its first change, its second, and so on; returns where it died. */
async function dieEverywhere({ sql }: Session, tried: typeof call): Promise<string[]> {
  const known = await knownIds(sql)
  const rewind = await sequences(sql)
  const trial = async (at: number | null): Promise<WholeAnswer> => {
    await rewind()
    await dieAt(sql, at)
    return await dispatch(sql, tried)
  }
  await sql`begin`
  await sql`savepoint before`
  const answer = plain(await trial(null))
  const rows = await allRows(sql, known)
  await sql`rollback to before`
  const places = new Set<string>()
  for (let at = 1;; at += 1) {
    const since = session.warnings.length
    // A handler may catch the error of its statement. A process that died commits nothing.
    await trial(at).catch(() => {})
    const place = placeOfDeath(session.warnings, since)
    if (place === null) break
    places.add(place)
    await sql`rollback to before`
    expect(plain(await trial(null))).toEqual(answer)
    expect(differences(rows, await allRows(sql, known))).toEqual([])
    await sql`rollback to before`
  }
  await sql`rollback`
  return [...places].sort()
}

Deno.test('dispatch() that dies at any row it changes, and is made again, leaves and answers what an undisturbed one does', async () => {
  expect(await dieEverywhere(session, call)).toEqual(PLACES)
  await expectExactCounters(db.admin)
})

Deno.test('the first call of a run that dies at any row it changes, and is made again, is as an undisturbed one', async () => {
  const first = { run: crypto.randomUUID(), seq: 1 }
  const places = await dieEverywhere(session, first)
  for (const place of ['insert run', 'delete run', 'insert run_batch', 'insert counter_change']) {
    expect(places).toContain(place)
  }
})

Deno.test('dispatch() in which any row it changes is refused records its results all the same, or nothing, and the next call does the rest', async () => {
  const { sql } = session
  const known = await knownIds(sql)
  const rewind = await sequences(sql)
  // A call later an event has another place in its lane, and may have another lane.
  const ofNow = async (): Promise<Record<string, string[]>> => {
    const { attempt, delivery, dead_letter, endpoint, event, unrouted } = await allRows(sql, known)
    return {
      delivery: delivery?.map((row) => row.replace(/"(due_at":"[^"]*|lane_id":[0-9]*)/g, ''))
        .sort(),
      attempt,
      dead_letter,
      endpoint,
      event,
      unrouted,
    } as Record<string, string[]>
  }
  const next = { ...call, seq: call.seq + 1, results: [] }
  await sql`begin`
  await sql`savepoint before`
  await dieAt(sql, null)
  await rewind()
  const undisturbed = await dispatch(sql, call)
  await dispatch(sql, next)
  const rows = await ofNow()
  await sql`rollback to before`
  const given = call.results?.filter(({ outcome }) => outcome !== 'renew').length ?? 0
  const told = { refused: 0, route: 0, claim: 0, made_up: 0, alone: 0 }
  for (let at = 1;; at += 1) {
    await rewind()
    await dieAt(sql, at, 'P0001')
    const answer = await dispatch(sql, call).catch(() => null)
    if (answer === null) {
      told.refused += 1
      await sql`rollback to before`
      continue
    }
    const [changes] = await sql`select last_value >= ${at} as met from public.changes`
    if (changes?.met !== true) break
    await dieAt(sql, null)
    // A refused single result waits; everything else was repeated in the same call.
    const alone = await sql`select from outbox.refusal`
    const isRenewed = answer.renewed?.length === undisturbed.renewed?.length
    expect(answer.applied + alone.length).toBeGreaterThanOrEqual(given)
    if (answer.error?.route !== undefined) told.route += 1
    if (answer.error?.claim !== undefined) told.claim += 1
    expect(await dispatch(sql, next)).toMatchObject({ error: null, repeat: false })
    if (alone.length > 0 || !isRenewed) told.alone += 1
    else {
      told.made_up += 1
      expect(differences(rows, await ofNow())).toEqual([])
    }
    await sql`rollback to before`
  }
  await sql`rollback`
  // Each of these outcomes occurred.
  expect(Object.entries(told).filter(([, n]) => n === 0)).toEqual([])
})

Deno.test('dispatch() of messages that dies at any row it changes, and is made again, is as an undisturbed one', async () => {
  await db.reset()
  const { sql } = session
  const told = await messagesUnderWay(sql, { count: 6, random: new Random(1) })
  await sql`
    select outbox.create_message(o, '+12025559999', '{"parameters": ["Ben"]}', 'reminder', 'dossier', 'later')
    from unnest('{org-0, org-1}'::text[]) o`
  await sql`update outbox.endpoint set rate_per_second = 77 where true`
  // The token of one channel is refused, one message has an unsupported type; the rest was sent.
  const results = told.map(({ result }, n): unknown => {
    const { event, endpoint, attempt } = result
    const key = { event, endpoint, attempt }
    if (n === 0) return { ...key, outcome: 'failed', status: 401, code: '190' }
    if (n === 1) return { ...key, outcome: 'failed', status: 400, code: '131051' }
    if (n === 2) return { ...key, outcome: 'failed', error_class: 'timeout' }
    return { ...key, outcome: 'delivered', status: 200, provider_id: `wamid.${n}` }
  }) as Report[]
  const run = '00000000-0000-7000-8000-000000000009'
  const places = await dieEverywhere(session, { run, seq: 100, results, limit: 10 })
  expect(places).toEqual(MESSAGE_PLACES)
})
