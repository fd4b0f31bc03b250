import type postgres from 'postgres'

/**
 * Makes one call in a transaction in which each statement has at most `timeoutMs`. `sql` has one connection
 * (`max: 1`): the three messages are sent together, in one round trip if `call` needs no reply before its
 * result. The limit ends with the transaction: a limit of the session would reach the next client of a
 * pooler, and poolers reject it as a startup parameter. Do not pass a call with a named prepared statement:
 * postgres.js may send it again after the `commit`. Rejects with the first error. (`sql.reserve()` of
 * postgres.js 3.4.9 never resolves on a new connection without `fetch_types`.)
 */
export async function callLimited<Row>(
  sql: postgres.Sql,
  timeoutMs: number,
  call: PromiseLike<Row[]>,
): Promise<Row[]> {
  const [begun, called, ended] = await Promise.allSettled([
    sql.unsafe(`begin; ${limit(timeoutMs)}`).simple(),
    call,
    // After an error it rolls back.
    sql.unsafe('commit').simple(),
  ])
  for (const { reason } of [begun, called, ended].filter(isRejected)) throw reason
  return called.status === 'fulfilled' ? called.value : []
}

/** Limits each statement of the current transaction, and its pauses. */
export function limit(timeoutMs: number): string {
  const ms = Math.ceil(timeoutMs)
  return `set local statement_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${ms}`
}

/**
 * Whether a pooler in transaction mode has given the client another session, which lacks its prepared
 * statements.
 */
export function isUnprepared(code: string): boolean {
  return code === '26000' || code === '42P05'
}

/** Rejects if there is no response in time. The session is then in an unknown state: do not use it again. */
export async function within<Value>(ms: number, response: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([response, expired])
  } finally {
    clearTimeout(timer)
  }
}

function isRejected(settled: PromiseSettledResult<unknown>): settled is PromiseRejectedResult {
  return settled.status === 'rejected'
}
