import type postgres from 'postgres'

/**
 * Makes one call in a transaction in which each statement has at most `timeoutMs`. `sql` has one connection
 * (`max: 1`): the three messages are sent together, so a prepared call takes one round trip. The limit ends with
 * the transaction: a limit of the session would reach the next client of a pooler, and poolers reject it
 * as a startup parameter. Rejects with the first error. (`sql.reserve()` of postgres.js 3.4.9 never
 * resolves on a new connection without `fetch_types`.)
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

function isRejected(settled: PromiseSettledResult<unknown>): settled is PromiseRejectedResult {
  return settled.status === 'rejected'
}
