import { expect } from '@std/expect'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { applyFiles } from '../../supabase/local/schema/database.ts'
import { compareSnapshots, takeSnapshot } from '../../supabase/local/schema/snapshot.ts'
import { buildUpgradeFiles } from '../../supabase/local/schema/upgrade_files.ts'
import { startTestPostgres, withMigrations } from '../_support/postgres.ts'
import { buildIndexes } from './_indexes.ts'
import { makeSample } from './_sample.ts'

Deno.test('an upgraded database is the same as a new one, and refuses the upgrade a second time', async () => {
  await using sample = await makeSample()
  const { files, byHand } = await buildUpgradeFiles(sample.root, sample.release)
  expect(byHand).toEqual([])
  expect(files.length).toBe(sample.release.modules.size)
  const fresh = await withSchema(sample.root, 'sql', takeSnapshot)
  await withMigrations(async (pg) => {
    await applyFiles(pg, files)
    await buildIndexes(pg)
    const upgraded = await takeSnapshot(pg)
    const found = compareSnapshots(['a new database', fresh], ['an upgraded one', upgraded])
    expect(found.join('\n')).toBe('')
    const { code, stderr } = await pg.psql(files[0]?.text ?? '')
    expect(code).not.toBe(0)
    expect(stderr).toContain(
      `the module core has version ${sample.version}: this migration needs version ${sample.release.version}`,
    )
  })
})

Deno.test('a module is upgraded only after the core, and by itself', async () => {
  await using sample = await makeSample()
  const { files } = await buildUpgradeFiles(sample.root, sample.release)
  await using pg = await startTestPostgres({ migrated: true })
  const [core, api] = files
  const early = await pg.psql(api?.text ?? '')
  expect(early.stderr).toContain(`the module core has version ${sample.release.version}`)
  await applyFiles(pg, core === undefined ? [] : [core])
  const problem = await pg.psql('select outbox.module_problem()')
  expect(problem.stdout).toContain(`an upgrade to ${sample.version} is not finished`)
  await applyFiles(pg, files.slice(1))
  expect((await pg.psql('select outbox.module_problem() is null')).stdout.trim()).toBe('t')
})
