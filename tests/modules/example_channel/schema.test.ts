/** sms.sql on the core with messages, and on all modules: what it adds, and that drop.sql removes it. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres from 'postgres'
import { withNeeds } from '../../../supabase/local/schema/order.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { compareSnapshots, takeSnapshot } from '../../../supabase/local/schema/snapshot.ts'
import { checkSql } from '../../_lint/sql_rules.ts'
import { startTestPostgres } from '../../_support/postgres.ts'
import { install, modules, nameOf } from '../_support/modules.ts'
import { codeFile, foreignNames } from '../_support/names.ts'
import { problems } from '../_support/problems.ts'

const folder = 'tests/modules/example_channel'
const moduleSql = await Deno.readTextFile(join(projectRoot, folder, 'sms.sql'))
const dropSql = await Deno.readTextFile(join(projectRoot, folder, 'drop.sql'))

Deno.test('sms.sql names objects of core and messages only, and keeps the rules for SQL', () => {
  const file = codeFile('sms', `${folder}/sms.sql`, moduleSql)
  expect(foreignNames(file, ['core', 'messages'])).toEqual([])
  for (const text of [moduleSql, dropSql]) {
    expect(checkSql(text, { mayCatchOthers: [] })).toEqual([])
  }
  for (const [definition] of moduleSql.matchAll(/^create function [^]*?\nas \$\$/gm)) {
    expect(definition).toContain("set search_path = ''")
  }
})

for (const combination of [withNeeds(modules, ['messages']), modules]) {
  Deno.test(`on ${nameOf(combination)}, sms.sql passes plpgsql_check and drop.sql removes it`, async () => {
    await using pg = await startTestPostgres()
    await install(pg, combination)
    const before = await takeSnapshot(pg)
    const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
    try {
      await sql.begin((tx) => tx.unsafe(moduleSql))
      const added = [...(await takeSnapshot(pg)).keys()].filter((key) => !before.has(key))
      expect(added.filter((key) => !key.includes('sms'))).toEqual([])
      expect(added.length).toBeGreaterThan(5)
      const found = await sql.unsafe(problems)
      expect(found.map(({ problem }) => String(problem))).toEqual([])
      await sql.begin((tx) => tx.unsafe(dropSql))
      const differences = compareSnapshots(['before', before], ['after', await takeSnapshot(pg)])
      expect(differences.join('\n')).toBe('')
    } finally {
      await sql.end()
    }
  })
}

Deno.test('a kind that sends no messages cannot become a channel', async () => {
  await using pg = await startTestPostgres()
  await install(pg, withNeeds(modules, ['messages']))
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    const [row] = await sql`
      select outbox.create_endpoint('https://example.com') ->> 'id' as id`
    const added = sql`select outbox.add_message_channel(${row?.id})`
    expect(await added.then(() => 'accepted', (error) => error.code)).toBe('OH004')
  } finally {
    await sql.end()
  }
})
