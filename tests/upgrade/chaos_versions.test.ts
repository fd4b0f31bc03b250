/** The versions to which `task soak chaos` upgrades. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { startTestPostgres } from '../_support/postgres.ts'
import { firstVersion, nextVersion, replaceFunctions } from '../soak/chaos/upgrades.ts'
import { migrate } from './_migrate.ts'

Deno.test('each next version can be applied, replaces functions, and is followed by another one', async () => {
  await using pg = await startTestPostgres({ migrated: true })
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    let release = await firstVersion()
    for (let turn = 0; turn < 2; turn++) {
      const next = nextVersion(release)
      await migrate(
        pg.dbUrl,
        [...next.migrations].map(([path, text]) => ({ path, text })),
      )
      release = next.release
      const modules = await sql`select distinct version from outbox.installed_module`
      expect(modules.map(({ version }) => version)).toEqual([release.version])
      const [code] = await sql`
        select prosrc like ${`%-- Version ${release.version}\n%`} as is_new from pg_proc
        where oid = to_regproc('outbox.dispatch')`
      expect(code?.is_new).toBe(true)
    }
    expect(release.version).toBe('0.3.0')
    const columns = await sql`
      select attname as name from pg_attribute
      where attrelid = 'outbox.dead_letter'::regclass and attname like 'version\\_%' order by 1`
    expect(columns.map(({ name }) => name)).toEqual(['version_0_2_0', 'version_0_3_0'])
    // The functions of this version, not those of the first one.
    await sql.unsafe(`begin; ${replaceFunctions(release)}; commit`)
    const [row] = await sql`select outbox.version() ->> 'version' as version`
    expect(row?.version).toBe('0.3.0')
  } finally {
    await sql.end({ timeout: 1 })
  }
})
