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

/** Calls the database over its own connection, as the worker does. It connects at the first call. */
export function connectDirect(
  { url, timeoutMs = callTimeoutMs, speaks = contractRange, project = null }: DirectOptions,
): Database {
  let prepare = true
  // One for each dispatch in flight; each connects at its first call.
  const sessions = [open(url, prepare), open(url, prepare)]
  const busy = new Set<postgres.Sql>()

  function renew(used: postgres.Sql): void {
    const at = sessions.indexOf(used)
    if (at < 0) return
    used.end({ timeout: 0 }).catch(() => {})
    sessions[at] = open(url, prepare)
  }

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    const prepared = prepare
    const sql = sessions.find((session) => !busy.has(session)) ?? open(url, prepare)
    busy.add(sql)
    let timer: ReturnType<typeof setTimeout> | undefined
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
    })
    try {
      const introduction = introduce(speaks, project, call)
      const rows = await Promise.race([ask(sql, call, introduction), expired])
      return readResponse(rows[0]?.response)
    } catch (cause) {
      const code = codeOf(cause)
      if (prepared && isUnprepared(code)) {
        prepare = false
        renew(sql)
        return await dispatch(call)
      }
      if (isConnectionLost(cause)) renew(sql)
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
      busy.delete(sql)
      // More calls are in flight than there are sessions.
      if (!sessions.includes(sql)) sql.end({ timeout: 1 }).catch(() => {})
    }
  }

  return {
    dispatch,
    async close(): Promise<void> {
      await Promise.all(sessions.map((sql) => sql.end({ timeout: 1 })))
    },
  }
}

function open(url: string, prepare: boolean): postgres.Sql {
  return postgres(url, {
    max: 1,
    prepare,
    connect_timeout: 5,
    max_lifetime: null,
    // dispatch uses only built-in types, and fetching types costs a round trip at each connect.
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'outhook' },
  })
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

/** Sends the results as text, because postgres.js would encode a jsonb parameter as JSON twice. */
function ask(
  sql: postgres.Sql,
  call: DispatchCall,
  introduction: Introduction,
): Promise<{ response: unknown }[]> {
  return callLimited(
    sql,
    statementTimeoutMs,
    sql<{ response: unknown }[]>`
    select outbox.dispatch(
      p_run => ${call.run}::uuid, p_seq => ${call.seq}::bigint,
      p_results => ${JSON.stringify(call.results)}::text::jsonb, p_limit => ${call.limit}::integer,
      p_kind => ${call.kind}::text, p_ended => ${call.ended}::boolean,
      p_known => ${JSON.stringify(call.known)}::text::jsonb,
      p_contract => ${JSON.stringify(introduction)}::text::jsonb, p_held => ${call.held}::integer
    ) as response`,
  )
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
