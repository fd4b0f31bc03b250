import type { Sql } from 'postgres'

/** Puts a clock into the database that stands at the time in `outbox.test_clock`, if there is one. */
export async function installTestClock(sql: Sql): Promise<void> {
  await sql.unsafe(await Deno.readTextFile(new URL('test_clock.sql', import.meta.url)))
}
