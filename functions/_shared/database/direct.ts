import postgres from 'postgres'
import { introduce, type Introduction } from '../contract/introduction.ts'
import { type ContractRange, contractRange, missingDispatch } from '../contract/range.ts'
import type { DispatchCall } from '../contract/contract.ts'
import {
  callTimeoutMs,
  type Database,
  type DispatchReply,
  readResponse,
  refused,
} from './dispatch.ts'
import { messageOf } from '../base/errors.ts'
import { kindOfError } from './fault.ts'
import { callLimited, within } from './limited.ts'

export type DirectOptions = {
  /** A connection string; its role needs EXECUTE on `outbox.dispatch`. */
  url: string
  timeoutMs?: number
  /** The contracts that these functions support. */
  speaks?: ContractRange
  /** The name or the URL of the run's project; null: it names none. */
  project?: string | null
}

/** PostgREST takes this limit from the function's settings; a direct call must set it. */
const statementTimeoutMs = 5_000

/** One connection. */
type Session = {
  readonly sql: postgres.Sql
  isConnected: boolean
}

/** Calls the database over its own connection, as the worker does. It connects at the first call. */
export function connectDirect(
  { url, timeoutMs = callTimeoutMs, speaks = contractRange, project = null }: DirectOptions,
): Database {
  // One for each dispatch in flight; each connects at its first call.
  const sessions = [open(url), open(url)]
  const busy = new Set<Session>()

  function renew(used: Session): void {
    const at = sessions.indexOf(used)
    if (at < 0) return
    used.sql.end({ timeout: 0 }).catch(() => {})
    sessions[at] = open(url)
  }

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    const session = sessions.find((one) => !busy.has(one)) ?? open(url)
    busy.add(session)
    try {
      const introduction = introduce(speaks, project, call)
      const rows = await within(timeoutMs, ask(session, call, introduction))
      return readResponse(rows[0]?.response)
    } catch (cause) {
      const code = codeOf(cause)
      if (isConnectionLost(cause)) renew(session)
      if (isMissing(code, cause)) return refused(missingDispatch(), code, cause)
      return {
        ok: false,
        fault: {
          kind: kindOfError({ code, message: messageOf(cause), routine: routineOf(cause) }),
          code,
          message: `Cannot call outbox.dispatch: ${code} ${messageOf(cause)}`,
          cause,
        },
      }
    } finally {
      busy.delete(session)
      // More calls are in flight than there are sessions.
      if (!sessions.includes(session)) session.sql.end({ timeout: 1 }).catch(() => {})
    }
  }

  return {
    dispatch,
    async close(): Promise<void> {
      await Promise.all(sessions.map(({ sql }) => sql.end({ timeout: 1 })))
    },
  }
}

function open(url: string): Session {
  const sql = postgres(url, {
    max: 1,
    // A pooler may not have it. postgres.js would prepare it again, but after the COMMIT of its call: without
    // the time limit, and if the pooler has taken the session back by then, the response never comes.
    prepare: false,
    connect_timeout: 5,
    max_lifetime: null,
    // dispatch uses only built-in types, and fetching types costs a round trip at each connect.
    fetch_types: false,
    onnotice: () => {},
    onclose: () => session.isConnected = false,
    connection: { application_name: 'outhook' },
  })
  const session: Session = { sql, isConnected: false }
  return session
}

/**
 * Whether the connection is lost, or may be after a timeout. postgres.js reconnects by itself, but after
 * an ECONNRESET it never sent its next query in one case of five. A read-only connection may lead to a
 * server that became a standby, or may have an old setting.
 */
function isConnectionLost(cause: unknown): boolean {
  return !(cause instanceof postgres.PostgresError) || cause.severity !== 'ERROR' ||
    cause.code === '25006'
}

/** Connects before the first call: postgres.js sends only half of the queries that wait for a connect. */
async function ask(
  session: Session,
  call: DispatchCall,
  introduction: Introduction,
): Promise<{ response: unknown }[]> {
  const { sql } = session
  if (!session.isConnected) {
    await sql.unsafe('').simple()
    session.isConnected = true
  }
  return await callLimited(sql, statementTimeoutMs, statementOf(sql, call, introduction))
}

/**
 * Passes the results as text, because postgres.js would encode a jsonb parameter as JSON twice.
 *
 * Its parameters are set and not written into the template: postgres.js asks the database for the types of
 * those in a template, waits for the reply, and sends the COMMIT only after the result. If the process dies
 * in between, the results in the call are lost, and their requests are sent again.
 */
function statementOf(
  sql: postgres.Sql,
  call: DispatchCall,
  introduction: Introduction,
): postgres.PendingQuery<{ response: unknown }[]> {
  const parameters = [
    call.run,
    String(call.seq),
    JSON.stringify(call.results),
    String(call.limit),
    call.kind,
    String(call.ended),
    JSON.stringify(call.known),
    JSON.stringify(introduction),
    String(call.held),
  ]
  const statement = sql<{ response: unknown }[]>`
    select outbox.dispatch(
      p_run => $1::uuid, p_seq => $2::bigint, p_results => $3::text::jsonb, p_limit => $4::integer,
      p_kind => $5::text, p_ended => $6::boolean, p_known => $7::text::jsonb,
      p_contract => $8::text::jsonb, p_held => $9::integer
    ) as response`
  return Object.assign(statement, { parameters })
}

/** Whether dispatch itself is missing; a call inside it may fail with the same code. */
function isMissing(code: string, cause: unknown): boolean {
  return code === '3F000' || code === '42883' && /\boutbox\.dispatch\(/.test(messageOf(cause))
}

/** postgres.js uses one field for SQLSTATEs, its own codes and system codes. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error) || !('code' in cause)) return ''
  return typeof cause.code === 'string' ? cause.code : ''
}

function routineOf(cause: unknown): string | undefined {
  return cause instanceof postgres.PostgresError ? cause.routine : undefined
}
