/** `outhook upgrade` by the packed command of the next version, in a project of this version. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { npm } from '../../supabase/local/npm_tool.ts'
import { applyFiles } from '../../supabase/local/schema/database.ts'
import type { SqlFile } from '../../supabase/local/schema/migration.ts'
import { compareSnapshots, takeSnapshot } from '../../supabase/local/schema/snapshot.ts'
import { buildUpgradeFiles } from '../../supabase/local/schema/upgrade_files.ts'
import { testFolder } from '../_support/folder.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { buildIndexes } from '../upgrade/_indexes.ts'
import { makeSample, type Sample } from '../upgrade/_sample.ts'
import { buildCommandOf } from './_support/build_command.ts'
import { builtCommand } from './_support/built.ts'
import { type Shop, shopIn } from './_support/shop.ts'

const root = testFolder()
let sample: Sample
/** The tarballs of this version and of the next one. */
let tarballs: { now: string; next: string }
let project: Shop
let pg: TestPostgres

Deno.test.beforeAll(async () => {
  sample = await makeSample()
  const { files } = await buildUpgradeFiles(sample.root, sample.release)
  for (const { path, text } of files) await Deno.writeTextFile(join(sample.root, path), text)
  tarballs = {
    now: await builtCommand(join(root, 'now')),
    next: await buildCommandOf(sample.root, join(root, 'next'), sample.version),
  }
  project = await shopIn(root, tarballs.now)
  expect((await project.run('init', '--yes', '--modules', 'api,watch')).code).toBe(0)
  await project.commit()
  pg = await startTestPostgres()
  await applyFiles(pg, await migrations(project))
})
Deno.test.afterAll(async () => {
  await pg?.[Symbol.asyncDispose]()
  await sample?.[Symbol.asyncDispose]()
  await Deno.remove(root, { recursive: true })
})

/** The migrations of a project in the order of their versions. */
async function migrations(shop: Shop): Promise<SqlFile[]> {
  return Object.entries(await shop.files())
    .filter(([path]) => path.startsWith('supabase/migrations/'))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([path, text]) => ({ path, text }))
}

async function moduleVersions(): Promise<Record<string, string>> {
  return JSON.parse((await pg.psql('select outbox.module_versions()')).stdout)
}

Deno.test('upgrade adds a migration for each module and the new functions; applied, all have the new version', async () => {
  const before = await migrations(project)
  expect(await moduleVersions()).toEqual({ core: version, api: version, watch: version })
  await npm(
    ['install', '--offline', '--no-audit', '--no-fund', '--save-dev', tarballs.next],
    project.path,
  )
  const plan = JSON.parse((await project.run('upgrade', '--json')).stdout)
  expect(plan).toMatchObject({ applied: false })
  expect((await migrations(project)).length).toBe(before.length)

  const { code, stderr } = await project.run('upgrade', '--yes')
  expect([code, stderr]).toEqual([0, ''])
  const added = (await migrations(project)).slice(before.length)
  expect(added.map(({ path }) => path.replace(/^.*\d{14}_/, ''))).toEqual(
    ['core', 'api', 'watch'].map((name) => `outhook_${name}_${sample.version}.sql`),
  )
  const files = await project.files()
  for (const name of ['api', 'deliver']) {
    expect(files[`supabase/functions/outhook-${name}/index.ts`])
      .toContain(`// Outhook ${sample.version}.`)
  }
  await applyFiles(pg, added)
  const { version: next } = sample
  expect(await moduleVersions()).toEqual({ core: next, api: next, watch: next })
  expect((await pg.psql('select outbox.module_problem() is null')).stdout).toBe('t')

  await project.commit()
  const again = await project.run('upgrade', '--yes')
  expect([again.code, (await migrations(project)).length]).toEqual([0, before.length + 3])
})

Deno.test('a module can be added after the upgrade, and one of the version before is refused', async () => {
  const before = (await migrations(project)).length
  expect((await project.run('init', '--yes', '--modules', 'inbox')).code).toBe(0)
  const added = (await migrations(project)).slice(before)
  expect(added.map(({ path }) => path.replace(/^.*\d{14}_/, '')))
    .toContain(`outhook_inbox_${sample.version}.sql`)

  const other = await shopIn(root, tarballs.now)
  expect((await other.run('init', '--yes', '--modules', 'inbox')).code).toBe(0)
  const older = (await migrations(other)).find(({ path }) => path.includes('_outhook_inbox_'))
  const refused = await pg.psql(older?.text ?? '')
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining(
      `the module core has version ${sample.version}: this migration needs version ${version}`,
    ),
  ])
  expect(Object.keys(await moduleVersions())).not.toContain('inbox')

  await applyFiles(pg, added)
  expect((await moduleVersions())['inbox']).toBe(sample.version)
})

Deno.test('init of the next version installs the same schema as the upgrade', async () => {
  const fresh = await shopIn(root, tarballs.next)
  expect((await fresh.run('init', '--yes', '--modules', 'api,watch,inbox')).code).toBe(0)
  await using other = await startTestPostgres()
  await applyFiles(other, await migrations(fresh))
  await buildIndexes(pg)
  const found = compareSnapshots(
    ['a new database', await takeSnapshot(other)],
    ['an upgraded one', await takeSnapshot(pg)],
  )
  expect(found.join('\n')).toBe('')
})
