/** The kind of each database error; errors come from a real server where a test can cause them. */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import type { DispatchCall } from '../../../../functions/_shared/contract/contract.ts'
import type { DatabaseFault } from '../../../../functions/_shared/database/dispatch.ts'
import { connectDirect } from '../../../../functions/_shared/database/direct.ts'
import {
  type FaultKind,
  faultTable,
  kindOfError,
  kindOfResponse,
  rowOfError,
} from '../../../../functions/_shared/database/fault.ts'
import { prepareDatabase } from '../../../../supabase/local/database/mod.ts'
import { waitUntil } from '../../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../../supabase/local/schema/project.ts'
import { patienceMs } from '../../../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../../../_support/postgres.ts'

let pg: TestPostgres
let admin: Sql

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres()
  await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
  admin = postgres(pg.adminDbUrl, { max: 2, onnotice: () => {} })
  await admin`create role courier login password 'right'`
  await admin`grant usage on schema outbox to courier`
  await admin`grant execute on function
    outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer) to courier`
})
Deno.test.beforeEach(async () => {
  await admin`alter role courier reset all`
  await admin`alter role courier connection limit -1`
})
Deno.test.afterAll(async () => {
  await admin.end({ timeout: 1 })
  await pg[Symbol.asyncDispose]()
})

function url(change: (url: URL) => void = () => {}): string {
  const made = new URL(pg.dbUrl)
  made.username = 'courier'
  made.password = 'right'
  change(made)
  return made.href
}

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

/** The fault of one call, made over a connection of its own while `meanwhile` happens. */
async function faultOf(
  dbUrl: string,
  { call = callOf(), meanwhile = async () => {}, timeoutMs = patienceMs }: {
    call?: DispatchCall
    meanwhile?(): Promise<void>
    timeoutMs?: number
  } = {},
): Promise<DatabaseFault> {
  const database = connectDirect({ url: dbUrl, timeoutMs })
  try {
    const [reply] = await Promise.all([database.dispatch(call), meanwhile()])
    if (reply.ok) throw new Error('the call was answered')
    return reply.fault
  } finally {
    await database.close()
  }
}

async function isCalling(): Promise<boolean> {
  const rows = await admin`select from pg_stat_activity a
    where a.usename = 'courier' and a.state = 'active' and a.wait_event_type = 'Lock'`
  return rows.length > 0
}

/** Holds a lock that each call needs until the fault of one is known. */
async function whileLocked(call: () => Promise<DatabaseFault>): Promise<DatabaseFault> {
  const blocker = await admin.reserve()
  await blocker`begin`
  await blocker`lock table outbox.run_batch`
  try {
    return await call()
  } finally {
    await blocker`rollback`
    blocker.release()
  }
}

/** Does something to the call while it waits for the lock. */
async function whileWaiting(act: () => Promise<unknown>): Promise<DatabaseFault> {
  return await whileLocked(() =>
    faultOf(url(), {
      meanwhile: async () => {
        if (!await waitUntil(isCalling, { timeoutMs: patienceMs })) throw new Error('nobody waits')
        await act()
      },
    })
  )
}

async function onCourier(what: string): Promise<unknown> {
  return await admin.unsafe(`select ${what}(a.pid) from pg_stat_activity a
    where a.usename = 'courier'`)
}

/** `code` null: the client sees it in several ways, as it happens to be before or in a read. */
const made: {
  code: string | null
  kind: FaultKind
  title: string
  fault(): Promise<DatabaseFault>
}[] = [
  {
    title: 'a read-only database',
    code: '25006',
    kind: 'temporary',
    fault: async () => {
      await admin`alter role courier set default_transaction_read_only = on`
      return await faultOf(url())
    },
  },
  {
    title: 'a lock that is not got',
    code: '55P03',
    kind: 'temporary',
    fault: async () => {
      await admin`alter role courier set lock_timeout = '50ms'`
      return await whileLocked(() => faultOf(url()))
    },
  },
  {
    title: 'a cancelled statement',
    code: '57014',
    kind: 'temporary',
    fault: () => whileWaiting(() => onCourier('pg_cancel_backend')),
  },
  {
    title: 'a backend that is ended',
    code: null,
    kind: 'temporary',
    fault: () => whileWaiting(() => onCourier('pg_terminate_backend')),
  },
  {
    title: 'too many connections',
    code: '53300',
    kind: 'temporary',
    fault: async () => {
      await admin`alter role courier connection limit 0`
      return await faultOf(url())
    },
  },
  {
    title: 'nobody at the port',
    code: 'ECONNREFUSED',
    kind: 'temporary',
    fault: () => faultOf(url((to) => to.port = '1')),
  },
  {
    title: 'no answer in time',
    code: '',
    kind: 'temporary',
    fault: () => whileLocked(() => faultOf(url(), { timeoutMs: 200 })),
  },
  {
    title: 'a wrong password',
    code: '28P01',
    kind: 'permanent',
    fault: () => faultOf(url((to) => to.password = 'wrong')),
  },
  {
    title: 'a database that is not there',
    code: '3D000',
    kind: 'permanent',
    fault: () => faultOf(url((to) => to.pathname = '/elsewhere')),
  },
  {
    title: 'a schema that is not there',
    code: '3F000',
    kind: 'permanent',
    fault: async () => {
      await admin`create database bare`
      return await faultOf(url((to) => to.pathname = '/bare'))
    },
  },
  {
    title: 'a role without the right',
    code: '42501',
    kind: 'permanent',
    fault: async () => {
      await admin`create role stranger login password 'right'`
      await admin`grant usage on schema outbox to stranger`
      return await faultOf(url((to) => to.username = 'stranger'))
    },
  },
  {
    title: 'a result with a character that no text holds',
    code: '22P05',
    kind: 'partial',
    fault: () =>
      faultOf(url(), {
        call: callOf({
          results: [{
            event: crypto.randomUUID(),
            endpoint: crypto.randomUUID(),
            attempt: 1,
            outcome: 'delivered',
            response: '\0',
            duration_ms: 1,
          }],
        }),
      }),
  },
]

for (const { title, code, kind, fault } of made) {
  Deno.test(`connectDirect() sorts ${title} as ${kind}`, async () => {
    const given = await fault()
    expect({ code: given.code, kind: given.kind }).toEqual({ code: code ?? given.code, kind })
  })
}

Deno.test('a read-only connection is replaced by a new one', async () => {
  await admin`alter role courier set default_transaction_read_only = on`
  const database = connectDirect({ url: url() })
  try {
    expect(await database.dispatch(callOf())).toMatchObject({ fault: { code: '25006' } })
    await admin`alter role courier reset default_transaction_read_only`
    expect(await database.dispatch(callOf())).toMatchObject({ ok: true })
  } finally {
    await database.close()
  }
})

/** Errors that no test can cause, and the codes of the gateway and the driver. */
const known: Record<FaultKind, string[]> = {
  temporary: [
    '',
    '08000',
    '08006',
    '25006',
    '25P02',
    '25P03',
    '40001',
    '40P01',
    '53100',
    '53200',
    '55006',
    '57P02',
    '57P03',
    '57P05',
    '58030',
    'XX000',
    'PGRST000',
    'PGRST002',
    'PGRST003',
    'CONNECT_TIMEOUT',
    'CONNECTION_CLOSED',
    'CONNECTION_ENDED',
    'ECONNRESET',
    'ENOTFOUND',
    'EPIPE',
    'ETIMEDOUT',
  ],
  partial: ['22003', '22P02', '23505', '23514', '21000', 'P0001', '0A000', '54000'],
  permanent: [
    '08P01',
    '28000',
    '42P01',
    '42703',
    '42883',
    '57P04',
    'OH001',
    'PGRST106',
    'PGRST202',
    'PGRST301',
    'SASL_SIGNATURE_MISMATCH',
    'CERT_HAS_EXPIRED',
    'SELF_SIGNED_CERT_IN_CHAIN',
  ],
}

for (const kind of ['temporary', 'partial', 'permanent'] as const) {
  Deno.test(`kindOfError() sorts its codes as ${kind}`, () => {
    for (const code of known[kind]) expect([code, kindOfError({ code })]).toEqual([code, kind])
  })
}

/** What Postgres 15 and 17 say, and what the same code has of a row. */
const limits: readonly [kind: FaultKind, routine: string, messages: string[]][] = [
  ['temporary', 'GetNewTransactionId', [
    'database is not accepting commands to avoid wraparound data loss in database "shop"',
    'database is not accepting commands that assign new transaction IDs to avoid wraparound data ' +
    'loss in database "shop"',
    'database is not accepting commands to avoid wraparound data loss in database with OID 5',
  ]],
  ['temporary', 'GetNewMultiXactId', [
    'database is not accepting commands that generate new MultiXactIds to avoid wraparound data ' +
    'loss in database "shop"',
    'multixact "members" limit exceeded',
  ]],
  ['partial', '_bt_check_third_page', [
    'index row size 2720 exceeds btree version 4 maximum 2704 for index "own"',
  ]],
  ['partial', 'make_tsvector', [
    'string is too long for tsvector (2097152 bytes, max 1048575 bytes)',
  ]],
]

Deno.test('54000 is temporary only while the server has no transaction ids left', () => {
  const code = '54000'
  for (const [kind, routine, messages] of limits) {
    for (const message of messages) {
      expect([message, kindOfError({ code, message })]).toEqual([message, kind])
      expect([message, kindOfResponse(500, { code, message })]).toEqual([message, kind])
    }
    expect([routine, kindOfError({ code, message: 'in another language', routine })])
      .toEqual([routine, kind])
  }
})

Deno.test('kindOfError() has a code for each row of the table', () => {
  const codes = [...Object.values(known).flat(), ...made.map(({ code }) => code ?? ''), 'ODD_CODE']
  const errors = [
    ...codes.map((code) => ({ code })),
    ...limits.flatMap(([, , messages]) => messages.map((message) => ({ code: '54000', message }))),
  ]
  const rows = new Set(errors.map(rowOfError))
  expect(faultTable.filter((row) => !rows.has(row))).toEqual([])
})

Deno.test('kindOfResponse() uses the status if there is no code', () => {
  for (const status of [0, 408, 429, 500, 502, 503, 504]) {
    expect([status, kindOfResponse(status, { code: '' })]).toEqual([status, 'temporary'])
  }
  for (const status of [401, 403, 404]) {
    expect([status, kindOfResponse(status, { code: '' })]).toEqual([status, 'permanent'])
  }
  expect(kindOfResponse(413, { code: '' })).toBe('partial')
  expect(kindOfResponse(405, { code: '25006' })).toBe('temporary')
})

Deno.test('outbox.is_passing() is true only for codes that the table calls passing', async () => {
  const codes = Object.values(known).flat().filter((code) => /^[0-9A-Z]{5}$/.test(code))
  for (const code of codes) {
    const [row] = await admin<{ passes: boolean }[]>`select outbox.is_passing(${code}) as passes`
    if (row?.passes === true && code !== '08P01' && code !== '57P04') {
      expect([code, kindOfError({ code })]).toEqual([code, 'temporary'])
    }
  }
})
