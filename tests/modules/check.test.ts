/** Each combination of modules is complete: no function names an object that is not installed. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { startTestPostgres } from '../_support/postgres.ts'
import { combinations, install, migrationOf, modules, nameOf } from './_support/modules.ts'

/** What plpgsql_check says of each function of the schema, as errors only. */
const problems = `
  select p.proname || ': ' || c.message as problem
  from pg_catalog.pg_proc p
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
  cross join lateral extensions.plpgsql_check_function_tb(p.oid,
    case when p.prorettype = 'trigger'::regtype then (
      select t.tgrelid from pg_catalog.pg_trigger t where t.tgfoid = p.oid limit 1)
    else 0 end, fatal_errors := false) c
  where p.pronamespace = 'outbox'::regnamespace and c.level = 'error'
    and (p.prorettype <> 'trigger'::regtype
      or exists (select from pg_catalog.pg_trigger t where t.tgfoid = p.oid))
  order by 1`

Deno.test('each combination of modules passes plpgsql_check', async (t) => {
  const [core] = modules
  if (core === undefined) throw new Error('sql/order.txt names no module')
  await using pg = await startTestPostgres()
  await install(pg, [core])
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    for (const combination of combinations) {
      await t.step(nameOf(combination), async () => {
        const found: string[] = []
        await sql.begin(async (tx) => {
          for (const module of combination.slice(1)) await tx.unsafe(await migrationOf(module))
          for (const row of await tx.unsafe(problems)) found.push(String(row.problem))
          await tx.unsafe('set local client_min_messages = error')
          throw undone
        }).catch((error) => {
          if (error !== undone) throw error
        })
        expect(found).toEqual([])
      })
    }
  } finally {
    await sql.end()
  }
})

const undone = new Error('rolled back')
