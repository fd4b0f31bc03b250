/** The README of each folder of sql/ names the tables, views, public functions and uses that are there. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { withMigrations } from '../_support/postgres.ts'
import { folders, ownerOf, referencesOf } from './_support/folders.ts'

/** The names after `**label**:` up to the full stop. */
function listed(readme: string, label: string): string[] | null {
  const [, list] = new RegExp(`^\\*\\*${label}\\*\\*:([^.]*)\\.`, 'm').exec(readme) ?? []
  return list === undefined ? null : [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
}

const readmes = new Map<string, string>()
for (const { name } of folders) {
  readmes.set(name, await Deno.readTextFile(join(projectRoot, `sql/${name}/README.md`)))
}

Deno.test('each README has 15 to 40 lines and says what its folder uses', () => {
  for (const folder of folders) {
    const readme = readmes.get(folder.name) ?? ''
    const lines = readme.trimEnd().split('\n').length
    expect([folder.name, lines >= 15 && lines <= 40]).toEqual([folder.name, true])
    const used = new Set(referencesOf(folder).map((name) => ownerOf(name) ?? folder.name))
    const others = folders.map(({ name }) => name).filter((name) =>
      name !== folder.name && used.has(name)
    )
    expect([folder.name, listed(readme, 'Uses')]).toEqual([folder.name, others])
  }
})

Deno.test('the lists of tables, views and public functions are those of the schema', async () => {
  const rows = await withMigrations(async (pg) => {
    const { stdout } = await pg.psql(`
      select case c.relkind when 'v' then 'Views' else 'Tables' end, c.relname from pg_class c
      where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v')
        and (not c.relispartition or c.relname like '%\\_default')
      union all
      select 'Public functions', p.proname from pg_proc p
      where p.pronamespace = 'outbox'::regnamespace
        and has_function_privilege('service_role', p.oid, 'execute')
      order by 1, 2;`)
    return stdout.split('\n').map((line) => line.split(/[|\t]/)).filter(({ length }) =>
      length === 2
    )
  })
  expect(rows.length).toBeGreaterThan(150)
  for (const label of ['Tables', 'Views', 'Public functions']) {
    for (const { name } of folders) {
      const there = rows.filter(([kind, object = '']) => kind === label && ownerOf(object) === name)
      const written = listed(readmes.get(name) ?? '', label) ?? []
      expect([name, label, written.toSorted()])
        .toEqual([name, label, there.map(([, object = '']) => object).toSorted()])
    }
  }
})
