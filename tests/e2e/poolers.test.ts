/** A worker and a consumer behind a pooler: Debian's PgBouncer in session and in transaction mode. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import postgres, { type Sql } from 'postgres'
import { openInbox } from '../../consumer/inbox.ts'
import type { DispatchCall } from '../../functions/_shared/contract/contract.ts'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import { callLimited } from '../../functions/_shared/database/limited.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startPgBouncer } from '../_support/pgbouncer.ts'
import { startWorker } from '../_support/worker_process.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ functions: [] })
  // The copied database has last ticked when it was prepared: a worker would complain until it ticks again.
  const ticks = async (): Promise<boolean> => {
    const [row] = await outhook.sql`select outbox.tick_problem() is null as ticks`
    return row?.ticks
  }
  expect(await waitUntil(ticks, { timeoutMs: patienceMs })).toBe(true)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

function client(url: string): Sql {
  return postgres(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })
}

async function limitOf(sql: Sql): Promise<string> {
  const [row] = await sql`show statement_timeout`
  return row?.statement_timeout
}

/** The warnings and errors of a worker, but for those of a machine that is too busy to respond in time. */
function complaints(log: readonly string[]): string[] {
  return log.filter((line) =>
    /"level":"(warn|error)"/.test(line) &&
    !/CONNECT_TIMEOUT|no response within|statement timeout/.test(line)
  )
}

for (const mode of ['session', 'transaction'] as const) {
  Deno.test(`a worker delivers through a pooler in ${mode} mode`, async () => {
    // Four are in use; another one takes the place of a connection that does not respond.
    await using pooler = await startPgBouncer({ dbUrl: outhook.stack.dbUrl, mode, servers: 8 })
    await outhook.createEndpoint(`/hooks/${mode}`, { p_event_types: [`pooled.${mode}`] })
    const worker = startWorker(pooler.url)
    for (let n = 0; n < 3; n++) {
      const id = await outhook.publish(`pooled.${mode}`)
      await outhook.requestsOf(id, 1)
      expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
    }
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(complaints(worker.log)).toEqual([])
  })

  Deno.test(`a consumer records its messages through a pooler in ${mode} mode`, async () => {
    await using pooler = await startPgBouncer({ dbUrl: outhook.stack.dbUrl, mode, servers: 4 })
    const consumer = `pooled.${mode}`
    const inbox = openInbox({ url: pooler.url, consumer, timeoutMs: 3_000, concurrency: 2 })
    try {
      const message = {
        id: crypto.randomUUID(),
        body: Buffer.from('{}'),
        source: 'orders',
        eventType: null,
        correlationId: 'c',
        traceparent: null,
      }
      const done = (): Promise<{ kind: 'done' }> => Promise.resolve({ kind: 'done' })
      expect(await inbox.around(message, done)).toEqual({ kind: 'done' })
      expect(await inbox.around(message, done)).toEqual({ kind: 'known' })
    } finally {
      await inbox.close()
    }
  })

  Deno.test(`a time limit ends with its call in ${mode} mode, and does not reach the next client`, async () => {
    await using pooler = await startPgBouncer({ dbUrl: outhook.stack.dbUrl, mode, servers: 1 })
    const first = client(pooler.url)
    try {
      const before = await limitOf(first)
      const slow = callLimited(first, 100, first`select pg_sleep(${20})`)
      await expect(slow).rejects.toThrow('canceling statement due to statement timeout')
      await callLimited(first, 100, first`select 1`)
      expect(await limitOf(first)).toBe(before)
    } finally {
      await first.end()
    }
    const next = client(pooler.url)
    try {
      expect(await limitOf(next)).toBe('2min')
    } finally {
      await next.end()
    }
  })
}

Deno.test('a call does not depend on the session that the pooler has given to the one before', async () => {
  const mode = 'transaction'
  await using pooler = await startPgBouncer({ dbUrl: outhook.stack.dbUrl, mode, servers: 2 })
  const database = connectDirect({ url: pooler.url })
  const other = client(pooler.url)
  try {
    const call: Omit<DispatchCall, 'seq'> = {
      run: crypto.randomUUID(),
      held: 0,
      results: [],
      limit: 10,
      kind: 'worker',
      ended: false,
      known: {},
    }
    const faultOf = async (seq: number): Promise<unknown> => {
      const reply = await database.dispatch({ ...call, seq })
      return reply.ok ? null : reply
    }
    // The other client's transaction holds one of the two sessions.
    for (let seq = 1; seq <= 60; seq += 3) {
      expect(await faultOf(seq)).toBe(null)
      await other.begin(async (sql) => {
        await sql`select 1`
        expect(await faultOf(seq + 1)).toBe(null)
      })
      expect(await faultOf(seq + 2)).toBe(null)
    }
  } finally {
    await other.end()
    await database.close()
  }
})
