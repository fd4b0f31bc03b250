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
import { kindOfCode } from './fault.ts'
import { callLimited, isUnprepared } from './limited.ts'

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
  /** Whether the connection has the prepared statement of a call. */
  isPrepared: boolean
}

/** Calls the database over its own connection, as the worker does. It connects at the first call. */
export function connectDirect(
  { url, timeoutMs = callTimeoutMs, speaks = contractRange, project = null }: DirectOptions,
): Database {
  let prepare = true
  // One for each dispatch in flight; each connects at its first call.
  const sessions = [open(url, prepare), open(url, prepare)]
  const busy = new Set<Session>()

  function renew(used: Session): void {
    const at = sessions.indexOf(used)
    if (at < 0) return
    used.sql.end({ timeout: 0 }).catch(() => {})
    sessions[at] = open(url, prepare)
  }

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    const prepared = prepare
    const session = sessions.find((one) => !busy.has(one)) ?? open(url, prepare)
    busy.add(session)
    let timer: ReturnType<typeof setTimeout> | undefined
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
    })
    try {
      const introduction = introduce(speaks, project, call)
      const rows = await Promise.race([ask(session, prepared, call, introduction), expired])
      return readResponse(rows[0]?.response)
    } catch (cause) {
      const code = codeOf(cause)
      if (prepared && isUnprepared(code)) {
        prepare = false
        renew(session)
        return await dispatch(call)
      }
      if (isConnectionLost(cause)) renew(session)
      if (isMissing(code, cause)) return refused(missingDispatch(), code, cause)
      return {
        ok: false,
        fault: {
          kind: kindOfCode(code),
          code,
          message: `Cannot call outbox.dispatch: ${code} ${messageOf(cause)}`,
          cause,
        },
      }
    } finally {
      clearTimeout(timer)
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

function open(url: string, prepare: boolean): Session {
  const sql = postgres(url, {
    max: 1,
    prepare,
    connect_timeout: 5,
    max_lifetime: null,
    // dispatch uses only built-in types, and fetching types costs a round trip at each connect.
    fetch_types: false,
    onnotice: () => {},
    onclose: () => session.isPrepared = false,
    connection: { application_name: 'outhook' },
  })
  const session: Session = { sql, isPrepared: false }
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

/**
 * Connects and prepares the statement before the first call of a session. Without that, postgres.js waits for
 * the database in the middle of this call and sends its COMMIT only after its result. If the process dies in
 * between, the results in the call are lost, and their requests are sent again.
 */
async function ask(
  session: Session,
  prepare: boolean,
  call: DispatchCall,
  introduction: Introduction,
): Promise<{ response: unknown }[]> {
  const { sql } = session
  if (prepare && !session.isPrepared) {
    // An empty query connects: postgres.js sends only half of the queries that wait for a connect.
    await sql.unsafe('').simple()
    await statementOf(sql, call, introduction).describe()
    session.isPrepared = true
  }
  return await callLimited(sql, statementTimeoutMs, statementOf(sql, call, introduction))
}

/** Passes the results as text, because postgres.js would encode a jsonb parameter as JSON twice. */
function statementOf(
  sql: postgres.Sql,
  call: DispatchCall,
  introduction: Introduction,
): postgres.PendingQuery<{ response: unknown }[]> {
  return sql<{ response: unknown }[]>`
    select outbox.dispatch(
      p_run => ${call.run}::uuid, p_seq => ${call.seq}::bigint,
      p_results => ${JSON.stringify(call.results)}::text::jsonb, p_limit => ${call.limit}::integer,
      p_kind => ${call.kind}::text, p_ended => ${call.ended}::boolean,
      p_known => ${JSON.stringify(call.known)}::text::jsonb,
      p_contract => ${JSON.stringify(introduction)}::text::jsonb, p_held => ${call.held}::integer
    ) as response`
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
