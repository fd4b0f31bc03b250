/** Functions and schema of two versions: compatible versions work; others claim nothing and report why. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { type ContractRange, contractRange } from '../../functions/_shared/contract/range.ts'
import type { DispatchCall } from '../../functions/_shared/contract/contract.ts'
import { type Database, readResponse } from '../../functions/_shared/database/dispatch.ts'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import { connectRpc } from '../../functions/_shared/database/rpc.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook()
  await outhook.createEndpoint('/hooks/versions')
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

const olderDispatch = await Deno.readTextFile(
  join(projectRoot, 'tests/_support/older_dispatch.sql'),
)

/** Its update: the database of these functions again. */
const update = `
  drop function outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb);
  alter function outbox.newer_dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer)
    rename to dispatch;`

function speaking({ oldest, newest }: ContractRange): string {
  return `create or replace function outbox.contracts() returns jsonb
    language sql stable set search_path = '' as $$
      select '{"oldest": ${oldest}, "newest": ${newest}}'::jsonb
    $$`
}

async function both(
  use: (database: Database) => Promise<void>,
  speaks?: ContractRange,
): Promise<void> {
  const { stack } = outhook
  const range = speaks === undefined ? {} : { speaks }
  await use(connectRpc({ url: stack.apiUrl, key: stack.keys.secretKey, ...range }))
  const direct = connectDirect({ url: stack.dbUrl, ...range })
  try {
    await use(direct)
  } finally {
    await direct.close()
  }
}

function callOf(over: Partial<DispatchCall> = {}): DispatchCall {
  const run = crypto.randomUUID()
  const call: DispatchCall = {
    ...{ run, seq: 1, results: [], limit: 10, kind: 'worker', ended: false, known: {}, held: 0 },
  }
  return { ...call, ...over }
}

/** Publishes while nothing is sent, and gives the event's id. */
async function publishQuietly(): Promise<string> {
  const [row] = await outhook.sql`
    select outbox.set_setting('kick.on_commit', 'false'), outbox.publish('order.paid', '{}') as id`
  return row?.id
}

/**
 * Waits until no run is alive, because a call of one may still claim under the old contract. A run
 * that did not end counts as alive for 10 s after its last call.
 */
async function noRun(): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select not exists (select from outbox.run
        where ended_at is null and polled_at > now() - interval '10 s') as yes`
    return row?.yes
  }
  expect(await waitUntil(isQuiet, { timeoutMs: patienceMs })).toBe(true)
}

/** Whether the queue is untouched: nothing claimed, no attempt, no run alive. */
async function untouched(): Promise<boolean> {
  const [row] = await outhook.sql`
    select not exists (select from outbox.delivery where attempt > 0)
      and (select coalesce(sum(in_flight), 0) from outbox.gate) = 0
      and not exists (select from outbox.attempt where error_class = 'lease_expired') as yes`
  return row?.yes
}

/** Kicks; returns the response of the function, which pg_net stores. */
async function kicked(): Promise<{ status: number; body: Record<string, unknown> }> {
  const [before] = await outhook
    .admin`select coalesce(max(id), 0)::integer as id from net._http_response`
  // A run that the tick has started may have been refused, which pauses kicks for 30 s.
  await outhook.sql`delete from outbox.contract_refusal where kind = 'edge'`
  await outhook.sql`select outbox.kick('tick')`
  const answers = (): Promise<{ status_code: number; content: string }[]> =>
    outhook.admin`select status_code, content from net._http_response
      where id > ${before?.id} and status_code is not null order by id limit 1`
  expect(await waitUntil(async () => (await answers()).length > 0, { timeoutMs: patienceMs })).toBe(
    true,
  )
  const [answer] = await answers()
  return { status: answer?.status_code ?? 0, body: JSON.parse(answer?.content ?? '{}') }
}

/** After the update everything goes out, at the first attempt. */
async function expectFirstTry(id: string): Promise<void> {
  await outhook.sql`select outbox.set_setting('kick.on_commit', 'true')`
  await outhook.sql`select outbox.kick('tick')`
  expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
}

/** How many deliveries a response has; an error counts as one, for the test to find. */
function claimedIn(data: unknown): number {
  // SAFETY: dispatch() returns an object with this member, or the call has failed and data is null.
  return (data as { deliveries: unknown[] } | null)?.deliveries.length ?? 1
}

/**
 * Publishes and dispatches until the dispatch claims what was published: on a slow machine a run that
 * the tick has kicked may claim it first, and then delivers it.
 */
async function claimOne<T>(dispatch: () => Promise<T>, count: (reply: T) => number): Promise<{
  id: string
  reply: T
}> {
  let id = await publishQuietly()
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const reply = await dispatch()
    if (count(reply) > 0) return { id, reply }
    // A second event would be claimed with the first, if another run only holds its locks.
    if (!await isOpen(id)) id = await publishQuietly()
  }
  throw new Error('another run claimed each delivery')
}

async function isOpen(id: string): Promise<boolean> {
  const [row] = await outhook.sql`
    select exists (select from outbox.delivery where event_id = ${id})
      or exists (select from outbox.unrouted where event_id = ${id}) as yes`
  return row?.yes
}

Deno.test('functions that name no contract work with this database, by RPC and directly', async () => {
  const { id, reply: { data, error } } = await claimOne(
    async () =>
      await outhook.client.rpc('dispatch', {
        p_run: crypto.randomUUID(),
        p_seq: 1,
        p_results: [],
        p_limit: 10,
        p_kind: 'edge',
        p_ended: false,
        p_known: {},
      }),
    ({ data }) => claimedIn(data),
  )
  expect(error).toBe(null)
  expect(data).toMatchObject({ stop: null, deliveries: [{ event: id, attempt: 1 }] })
  const [row] = await outhook.sql`
    select outbox.dispatch(p_run => gen_random_uuid(), p_seq => 1, p_results => jsonb_build_array(
      jsonb_build_object('event', d.event_id, 'endpoint', d.endpoint_id, 'attempt', 1,
        'outcome', 'delivered', 'status', 200, 'duration_ms', 1)), p_limit => 10, p_kind => 'worker',
      p_ended => true, p_known => '{}') as answer
    from outbox.delivery d where d.event_id = ${id}`
  expect(row?.answer).toMatchObject({ applied: 1, stop: null })
  expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
})

/** Every member of a recorded answer with the kind of its value; ids that are names of members are left out. */
function membersOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) {
    return [`${path} ${value === null ? '' : typeof value}`]
  }
  if (Array.isArray(value)) {
    return [
      `${path} array`,
      ...value.slice(0, 1).flatMap((one) => membersOf(one, `${path}[]`)),
    ]
  }
  return Object.entries(value).flatMap(([name, one]) =>
    membersOf(one, `${path}.${/^[0-9a-f-]{36}$/.test(name) ? 'id' : name}`)
  )
}

Deno.test('both sides keep the members of each contract that they support', async () => {
  const [row] = await outhook.sql`select outbox.contracts() as contracts`
  expect(row?.contracts).toEqual(contractRange)
  for (let n = contractRange.oldest; n <= contractRange.newest; n++) {
    const path = join(projectRoot, `tests/e2e/contracts/${n}.json`)
    const recorded: unknown = JSON.parse(await Deno.readTextFile(path))
    expect(readResponse(recorded)).toMatchObject({ ok: true })
    const { id, reply: { data } } = await claimOne(
      async () =>
        await outhook.client.rpc('dispatch', {
          p_run: crypto.randomUUID(),
          p_seq: 1,
          p_limit: 10,
          p_kind: 'worker',
          p_contract: { oldest: n, newest: n },
        }),
      ({ data }) => claimedIn(data),
    )
    expect(data).toMatchObject({ deliveries: [{ event: id }] })
    expect(membersOf(data)).toEqual(expect.arrayContaining(membersOf(recorded)))
    await outhook.sql`
      select outbox.dispatch(gen_random_uuid(), 1, jsonb_build_array(jsonb_build_object(
        'event', d.event_id, 'endpoint', d.endpoint_id, 'attempt', 1, 'outcome', 'delivered',
        'status', 200, 'duration_ms', 1)), p_ended => true)
      from outbox.delivery d where d.event_id = ${id}`
  }
})

Deno.test('adjacent versions work together: each supports the contract of the other', async () => {
  const ranges = [[{ oldest: 1, newest: 2 }, { oldest: 1, newest: 1 }], [
    { oldest: 1, newest: 1 },
    { oldest: 1, newest: 2 },
  ]] as const
  for (const [functions, database] of ranges) {
    await outhook.admin.unsafe(speaking(database))
    try {
      await both(async (transport) => {
        const { id, reply } = await claimOne(
          () => transport.dispatch(callOf()),
          (one) => one.ok ? one.response.deliveries.length : 1,
        )
        expect(reply).toMatchObject({ ok: true, response: { deliveries: [{ event: id }] } })
        const [delivery] = reply.ok ? reply.response.deliveries : []
        const { event = '', endpoint = '', attempt = 0 } = delivery ?? {}
        const result = { event, endpoint, attempt, outcome: 'delivered', duration_ms: 1 } as const
        expect(await transport.dispatch(callOf({ seq: 2, results: [result] })))
          .toMatchObject({ ok: true, response: { stale: 0 } })
      }, functions)
    } finally {
      await outhook.admin.unsafe(speaking({ oldest: 1, newest: 1 }))
    }
  }
})

Deno.test('these functions claim nothing from a database without contracts, and go on after its update', async () => {
  await noRun()
  await outhook.admin.unsafe(olderDispatch)
  const worker = startWorker(outhook.stack.dbUrl)
  let id = ''
  try {
    id = await publishQuietly()
    const refusal = {
      ok: false,
      fault: {
        kind: 'permanent',
        refusal: {
          update: 'database',
          message: expect.stringContaining('Update the database: push the migrations'),
        },
      },
    }
    await both(async (database) => expect(await database.dispatch(callOf())).toMatchObject(refusal))
    expect(await kicked()).toMatchObject({
      status: 503,
      body: { code: 'contract_mismatch', title: 'Update the database' },
    })
    const said = (): boolean => worker.log.some((line) => line.includes('Update the database'))
    expect(await waitUntil(said, { timeoutMs: patienceMs })).toBe(true)
    expect(outhook.log.some((line) => line.includes('Update the database'))).toBe(true)
    expect(await untouched()).toBe(true)
  } finally {
    await outhook.admin.unsafe(update)
  }
  // A response to a kick of the tick from before the update may come first.
  const isAccepted = async (): Promise<boolean> => (await kicked()).status === 202
  expect(await waitUntil(isAccepted, { timeoutMs: patienceMs })).toBe(true)
  await expectFirstTry(id)
  worker.kill('SIGTERM')
  expect(await worker.ended).toBe(0)
})

Deno.test('a database that no longer supports the contract of these functions refuses them in every place', async () => {
  const api = apiCaller(outhook)
  await noRun()
  await outhook.admin.unsafe(speaking({ oldest: 2, newest: 3 }))
  let id = ''
  const message = 'The functions support contract 1 and the database supports contract 2 to 3: ' +
    'update the functions: deploy them and restart workers from the version of the migrations'
  try {
    id = await publishQuietly()
    await both(async (database) =>
      expect(await database.dispatch(callOf())).toMatchObject({
        ok: false,
        fault: { refusal: { update: 'functions', message } },
      })
    )
    expect(await kicked()).toMatchObject({
      status: 503,
      body: { code: 'contract_mismatch', title: 'Update the functions', detail: message },
    })
    expect(await untouched()).toBe(true)
    // The response may be that of a run which the tick had started, and whose refusal kicked() has removed.
    const problem = async (): Promise<string> => {
      const [health] = await outhook.sql`select problems from outbox.queue_health`
      return health?.problems[0] ?? ''
    }
    const refused = `a run of kind edge was refused: ${message}`
    await waitUntil(async () => (await problem()).includes(refused), { timeoutMs: patienceMs })
    expect(await problem()).toContain(refused)
    expect((await api('GET /health')).body).toMatchObject({
      status: 'degraded',
      problems: [expect.stringContaining(message)],
    })
  } finally {
    await outhook.admin.unsafe(speaking({ oldest: 1, newest: 1 }))
  }
  await expectFirstTry(id)
})

Deno.test('the API reports a missing module, or different versions if its function has other parameters', async () => {
  const api = apiCaller(outhook)
  const remedy = expect.stringContaining(
    'push the migrations and deploy the functions of the same version',
  )
  await outhook.admin.unsafe('alter function outbox.get_health() rename to get_health_later')
  try {
    expect(await api('GET /health')).toMatchObject({
      status: 501,
      body: { code: 'module_missing', remedy },
    })
    await outhook.admin.unsafe(`create function outbox.get_health(p_later text) returns jsonb
      language sql return '{}'::jsonb`)
    expect(await api('GET /health')).toMatchObject({
      status: 503,
      body: { code: 'contract_mismatch', remedy },
    })
  } finally {
    await outhook.admin.unsafe(`drop function if exists outbox.get_health(text);
      alter function outbox.get_health_later() rename to get_health`)
  }
})
