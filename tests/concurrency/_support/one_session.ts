/** A database with one session, for all tests of a file. */

import type { Sql } from 'postgres'
import { type OutboxDatabase, startOutbox } from './database.ts'

/** The database; before the first test there is none. */
export let db: OutboxDatabase
/** The session. */
export let sql: Sql

/** Starts it before the tests of the file, and empties it before each. The test clock stands at now(). */
export function useOneSession(): void {
  Deno.test.beforeAll(async () => {
    db = await startOutbox()
    sql = (await db.open()).sql
  })
  Deno.test.beforeEach(async () => {
    await db.reset()
    await sql`insert into outbox.test_clock (at) values (now())`
  })
  Deno.test.afterAll(async () => {
    await db[Symbol.asyncDispose]()
  })
}

/** Moves the test clock on. */
export async function timePasses(seconds: number): Promise<void> {
  await sql`update outbox.test_clock set at = at + ${`${seconds} s`}::interval where only_row`
}
