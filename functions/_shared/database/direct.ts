import postgres from 'postgres'
import { type ContractRange, contractRange, missingDispatch } from '../contract/range.ts'
import type { DispatchCall } from '../contract/contract.ts'
import {
  callTimeoutMs,
  type Database,
  type DispatchReply,
  readAnswer,
  refused,
} from './dispatch.ts'
import { messageOf } from '../base/errors.ts'
import { kindOfCode } from './fault.ts'

export type DirectOptions = {
  /** A connection string; its role needs EXECUTE on `outbox.dispatch`. */
  url: string
  timeoutMs?: number
  /** The contracts that the calls name. */
  speaks?: ContractRange
}

/** PostgREST hoists this limit from the function; on a session of our own we set it. */
const statementTimeoutMs = 5_000

/**
 * Calls the database over a connection of its own, as the worker does. It connects at the first
 * call.
 */
export function connectDirect(
  { url, timeoutMs = callTimeoutMs, speaks = contractRange }: DirectOptions,
): Database {
  let sql = open(url)

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    })
    try {
      const rows = await Promise.race([ask(sql, call, speaks), expired])
      return readAnswer(rows[0]?.answer)
    } catch (cause) {
      const code = codeOf(cause)
      if (isConnectionLost(cause)) sql = renew(sql, url)
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
    }
  }

  return { dispatch, close: () => sql.end({ timeout: 1 }) }
}

function open(url: string): postgres.Sql {
  return postgres(url, {
    // As many as a worker has dispatches on their way.
    max: 2,
    connect_timeout: 5,
    max_lifetime: null,
    // dispatch needs no type of the user's own, and this look-up costs a round trip at each
    // connect.
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'outhook', statement_timeout: statementTimeoutMs },
  })
}

/**
 * Whether the connection is gone or may be, after no answer in time. postgres.js connects again by
 * itself, but after an ECONNRESET its next query was never sent in one case of five. A read-only
 * connection may lead to a server that became a standby, or may still have an old setting.
 */
function isConnectionLost(cause: unknown): boolean {
  return !(cause instanceof postgres.PostgresError) || cause.severity !== 'ERROR' ||
    cause.code === '25006'
}

function renew(sql: postgres.Sql, url: string): postgres.Sql {
  sql.end({ timeout: 0 }).catch(() => {})
  return open(url)
}

/**
 * The results go as text: postgres.js would turn a parameter that Postgres calls jsonb into JSON
 * twice.
 */
function ask(
  sql: postgres.Sql,
  call: DispatchCall,
  speaks: ContractRange,
): Promise<{ answer: unknown }[]> {
  return sql<{ answer: unknown }[]>`
    select outbox.dispatch(
      p_run => ${call.run}::uuid, p_seq => ${call.seq}::bigint,
      p_results => ${JSON.stringify(call.results)}::text::jsonb, p_limit => ${call.limit}::integer,
      p_kind => ${call.kind}::text, p_ended => ${call.ended}::boolean,
      p_known => ${JSON.stringify(call.known)}::text::jsonb,
      p_contract => ${JSON.stringify(speaks)}::text::jsonb
    ) as answer`
}

/** Whether dispatch itself is missing; a call inside it may fail with the same code. */
function isMissing(code: string, cause: unknown): boolean {
  return code === '3F000' || code === '42883' && /\boutbox\.dispatch\(/.test(messageOf(cause))
}

/** postgres.js uses one field for SQLSTATEs, its own codes and those of the system. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error) || !('code' in cause)) return ''
  return typeof cause.code === 'string' ? cause.code : ''
}
