import { expect } from '@std/expect'
import { join } from 'node:path'
import { withSchema } from '../../../supabase/local/schema/database.ts'
import { dumpSchema } from '../../../supabase/local/schema/dump.ts'
import { listFunctions } from '../../../supabase/local/schema/functions.ts'
import {
  expectedDump,
  expectedFunctions,
  projectRoot,
} from '../../../supabase/local/schema/project.ts'
import { compareSnapshots, takeSnapshot } from '../../../supabase/local/schema/snapshot.ts'
import { withMigrations } from '../../_support/postgres.ts'

Deno.test('sql/ and supabase/migrations make the same schema, as committed', async (t) => {
  await withSchema(projectRoot, 'sql', async (pg) => {
    const fromSql = await takeSnapshot(pg)
    await t.step(`${expectedDump} is what sql/ makes`, async () => {
      const committed = await Deno.readTextFile(join(projectRoot, expectedDump))
      expectSame(committed, await dumpSchema(pg), expectedDump)
    })
    await t.step(`${expectedFunctions} lists every function as it is`, async () => {
      const committed = await Deno.readTextFile(join(projectRoot, expectedFunctions))
      expectSame(committed, await listFunctions(pg), expectedFunctions)
    })
    await t.step('a database from the migrations differs in nothing', async () => {
      const fromMigrations = await withMigrations(takeSnapshot)
      const found = compareSnapshots(['sql/', fromSql], ['supabase/migrations', fromMigrations])
      expect(found.join('\n')).toBe('')
      expect(fromSql.size).toBeGreaterThan(100)
    })
  })
})

/** Fails with the lines that differ, at most ten of each side, rather than with two whole files. */
function expectSame(committed: string, actual: string, path: string): void {
  if (committed === actual) return
  const [old, now] = [committed.split('\n'), actual.split('\n')]
  const gone = old.filter((line) => !now.includes(line)).slice(0, 10).map((line) => `- ${line}`)
  const come = now.filter((line) => !old.includes(line)).slice(0, 10).map((line) => `+ ${line}`)
  throw new Error(
    `${path} is stale: run \`deno task db:build\` and read the change\n` +
      [...gone, ...come].join('\n'),
  )
}
