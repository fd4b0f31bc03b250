import { expect } from '@std/expect'
import type { DispatchCall, Result } from '../../../../functions/_shared/contract/contract.ts'
import type { Database } from '../../../../functions/_shared/database/dispatch.ts'
import { connectDirect } from '../../../../functions/_shared/database/direct.ts'
import { connectRpc } from '../../../../functions/_shared/database/rpc.ts'
import { type Stack, startStack } from '../../../../supabase/local/stack.ts'
import { databaseFolder } from '../../../_support/folder.ts'
import { copyPrepared } from '../../../_support/prepared.ts'

// Both transports against the schema itself, in one stack: starting it takes longer than all the rest.

function callOf(over: Partial<DispatchCall> = {}): DispatchCall {
  const run = crypto.randomUUID()
  return {
    run,
    seq: 1,
    results: [],
    limit: 10,
    kind: 'worker',
    ended: false,
    known: {},
    held: 0,
    ...over,
  }
}

async function prepare(stack: Stack): Promise<string> {
  const made = await stack.psql(
    `select outbox.create_endpoint(p_url => 'https://example.com/')->>'id'`,
  )
  return made.stdout.trim()
}

async function checkClaim(stack: Stack, database: Database): Promise<void> {
  const body = '{"n":12345678901234567890,  "p": 1.10, "city":"Zürich 🚲", "a":1}'
  await stack.psql(`select outbox.publish_raw(p_type => 'order.paid', p_body => $b$${body}$b$)`)
  const call = callOf()
  const claim = await database.dispatch(call)
  if (!claim.ok) throw new Error(claim.fault.message)
  const [delivery] = claim.response.deliveries
  if (delivery === undefined) throw new Error('nothing was claimed')
  expect(claim.response.events[delivery.event]?.body).toBe(body)
  expect(claim.response.endpoints[delivery.endpoint]?.secrets).toHaveLength(1)

  const repeat = await database.dispatch(call)
  expect(repeat).toMatchObject({
    response: { deliveries: [{ event: delivery.event, attempt: delivery.attempt }] },
  })

  const { event, endpoint, attempt } = delivery
  const result: Result = {
    event,
    endpoint,
    attempt,
    outcome: 'delivered',
    status: 200,
    response: 'ok "quoted" \\ and ü',
    duration_ms: 3,
  }
  const done = await database.dispatch({ ...call, seq: 2, results: [result], ended: true })
  expect(done).toMatchObject({ response: { stale: 0, deliveries: [] } })
  const late = await database.dispatch(callOf({ results: [result] }))
  expect(late).toMatchObject({ response: { stale: 1 } })

  const known = { [endpoint]: claim.response.endpoints[endpoint]?.revision ?? '' }
  await stack.psql(`select outbox.publish('order.paid', '{}')`)
  const knows = callOf({ known })
  expect(await database.dispatch(knows))
    .toMatchObject({ response: { deliveries: [{ endpoint }], endpoints: {} } })
  // Any change of its row makes another revision.
  await stack.psql(`update outbox.endpoint set timeout_ms = timeout_ms + 1`)
  const told = await database.dispatch(knows)
  expect(told.ok && told.response.endpoints[endpoint]?.revision).not.toBe(known[endpoint])
  await database.dispatch({
    ...knows,
    seq: 2,
    results: [{ event, endpoint, attempt: 1, outcome: 'released' }],
  })
}

Deno.test('connectDirect() and connectRpc() claim, repeat and record', async (t) => {
  const dataDir = databaseFolder()
  await copyPrepared(dataDir, 'migrations')
  const stack = await startStack({
    dataDir,
    ports: 'free',
    functions: [],
    fsync: false,
  })
  try {
    await prepare(stack)
    await t.step('over a connection of its own', async () => {
      const database = connectDirect({ url: stack.dbUrl })
      try {
        await checkClaim(stack, database)
      } finally {
        await database.close()
      }
    })
    await t.step('through RPC', async () => {
      await checkClaim(stack, connectRpc({ url: stack.apiUrl, key: stack.keys.secretKey }))
    })
    await t.step('a key that may not call it is a fault that no repeat cures', async () => {
      const database = connectRpc({ url: stack.apiUrl, key: stack.keys.anonKey })
      const reply = await database.dispatch(callOf())
      expect(reply).toMatchObject({ ok: false, fault: { kind: 'permanent' } })
    })
    await t.step(
      'a call without an response in time is a fault that a repeat may cure',
      async () => {
        const database = connectDirect({ url: stack.dbUrl, timeoutMs: 300 })
        try {
          const blocker = stack.psql('begin; lock table outbox.run_batch; select pg_sleep(600)')
          await lockTaken(stack)
          const call = callOf()
          expect(await database.dispatch(call)).toMatchObject({
            ok: false,
            fault: { kind: 'temporary' },
          })
          await stack.psql(`select pg_cancel_backend(a.pid) from pg_stat_activity a
            where a.query like '%pg_sleep(600)%' and a.pid <> pg_backend_pid()`)
          await blocker
          const patient = connectDirect({ url: stack.dbUrl })
          try {
            expect(await patient.dispatch(call)).toMatchObject({ ok: true })
          } finally {
            await patient.close()
          }
        } finally {
          await database.close()
        }
      },
    )
    await t.step('a lost connection is a fault, and the next call makes a new one', async () => {
      const database = connectDirect({ url: stack.dbUrl })
      try {
        // The client sees the end in several ways, as it happens to be before, in, or after a read.
        for (let i = 0; i < 10; i++) {
          expect(await database.dispatch(callOf())).toMatchObject({ ok: true })
          await stack.psql(`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'outhook'`)
          const reply = await database.dispatch(callOf())
          if (!reply.ok) expect(reply.fault.kind).toBe('temporary')
        }
      } finally {
        await database.close()
      }
    })
    await t.step('a server that does not response is a fault that a repeat may cure', async () => {
      for (const database of unreachable()) {
        const reply = await database.dispatch(callOf())
        expect(reply).toMatchObject({ ok: false, fault: { kind: 'temporary' } })
        expect(reply).not.toMatchObject({ fault: { message: expect.stringContaining('sesame') } })
        await database.close()
      }
    })
  } finally {
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
})

/** Port 9 of the loopback address: nothing listens there. */
function unreachable(): Database[] {
  return [
    connectDirect({ url: 'postgresql://postgres:sesame@127.0.0.1:9/postgres' }),
    connectRpc({ url: 'http://127.0.0.1:9', key: 'sesame' }),
    connectRpc({ url: 'http://kong:sesame@127.0.0.1:9', key: 'key' }),
  ]
}

async function lockTaken(stack: Stack): Promise<void> {
  for (;;) {
    const held = await stack.psql(`select count(*) from pg_locks
      where mode = 'AccessExclusiveLock' and relation = 'outbox.run_batch'::regclass and granted`)
    if (held.stdout.trim() === '1') return
  }
}
