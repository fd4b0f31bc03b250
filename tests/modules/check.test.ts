/** Each combination of modules is complete: no function names an object that is not installed. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { startTestPostgres } from '../_support/postgres.ts'
import { combinations, install, migrationOf, modules, nameOf } from './_support/modules.ts'
import { problems } from './_support/problems.ts'

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
