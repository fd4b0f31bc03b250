/** Two concurrent calls: the first keeps its transaction open while the second needs its locks. */

import { expectWaitsFor } from './checks.ts'
import type { OutboxDatabase, Session } from './database.ts'

/** One statement with its values, as postgres.js takes them. */
export type Call = [statement: string, values?: (string | number | null)[]]

/** The outcome of a statement: its first row, or the SQLSTATE that it raised. */
export type Outcome = Record<string, unknown> | string

/** Runs one statement; an error of the database is an outcome, not an exception. */
export async function outcomeOf(
  { sql }: Session,
  [statement, values = []]: Call,
): Promise<Outcome> {
  return await sql.unsafe(statement, values).then(
    ([row]) => row ?? {},
    (error) => error.code,
  )
}

/**
 * Runs `first` in a transaction that stays open until `second` waits for it, then `meanwhile`, then
 * commits. Returns the outcome of `second`.
 */
export async function cross(
  db: OutboxDatabase,
  { one, other, first, second, meanwhile = async () => {} }: {
    one: Session
    other: Session
    first: Call
    second: Call
    meanwhile?: () => Promise<void>
  },
): Promise<Outcome> {
  await one.sql`begin`
  await one.sql.unsafe(...first)
  const done = outcomeOf(other, second)
  try {
    await expectWaitsFor(db.admin, other, one)
    await meanwhile()
  } finally {
    await one.sql`commit`
  }
  return await done
}

/**
 * Runs `call` in `other`, which may wait for nothing, while `one` holds what `holding` took; then
 * again once that is rolled back. Returns both outcomes.
 */
export async function passing(
  { one, other, holding, call }: { one: Session; other: Session; holding: Call; call: Call },
): Promise<[whileHeld: Outcome, after: Outcome]> {
  await one.sql`begin`
  await one.sql.unsafe(...holding)
  await other.sql`set lock_timeout = '1ms'`
  const whileHeld = await outcomeOf(other, call)
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  return [whileHeld, await outcomeOf(other, call)]
}
