import { expect } from '@std/expect'
import { join } from 'node:path'
import {
  installedMigrations,
  newMigrations,
  type SourceMigration,
} from '../../../package/command/init/migrations.ts'
import { moduleHints } from '../../../package/command/init/choose.ts'
import { readOrder } from '../../../supabase/local/schema/order.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

const sources: SourceMigration[] = [
  { module: 'extensions', needs: [], text: 'e' },
  { module: 'core', needs: [], text: 'c' },
  { module: 'api', needs: ['core'], text: 'a' },
  { module: 'inbox', needs: ['core'], text: 'i' },
  { module: 'extra', needs: ['inbox'], text: 'x' },
  { module: 'jobs', needs: [], text: 'j' },
]
const now = new Date('2026-12-01T00:00:00Z')

function names(existing: string[], modules: string[]): string[] {
  return newMigrations(sources, existing, { modules, version: '1.0.0', now })
    .map(({ name }) => name)
}

Deno.test('newMigrations() numbers the files from now on, in order, with what a module needs', () => {
  expect(names([], ['extra'])).toEqual([
    '20261201000000_outhook_extensions_1.0.0.sql',
    '20261201000001_outhook_core_1.0.0.sql',
    '20261201000002_outhook_inbox_1.0.0.sql',
    '20261201000003_outhook_extra_1.0.0.sql',
    '20261201000004_outhook_jobs_after_extra_1.0.0.sql',
  ])
})

Deno.test('newMigrations() adds nothing after an upgrade, and a module in the new version', () => {
  const upgraded = [
    '20260101000000_outhook_extensions_1.0.0.sql',
    '20260101000001_outhook_core_1.0.0.sql',
    '20260101000002_outhook_jobs_after_core_1.0.0.sql',
    '20260201000000_outhook_core_1.1.0.sql',
  ]
  const add = (modules: string[]): string[] =>
    newMigrations(sources, upgraded, { modules, version: '1.1.0', now }).map(({ name }) => name)
  expect(add([])).toEqual([])
  expect(add(['inbox'])).toEqual([
    '20261201000000_outhook_inbox_1.1.0.sql',
    '20261201000001_outhook_jobs_after_inbox_1.1.0.sql',
  ])
})

Deno.test('newMigrations() installs everything again after an uninstallation', () => {
  const before = [
    '20260101000000_outhook_core_1.0.0.sql',
    '20260102000000_outhook_stop_jobs_1.0.0.sql',
    '20260102000001_outhook_uninstall_1.0.0.sql',
  ]
  expect(installedMigrations(before)).toEqual([])
  expect(names(before, []).map((name) => name.slice(15))).toEqual([
    'outhook_extensions_1.0.0.sql',
    'outhook_core_1.0.0.sql',
    'outhook_jobs_after_core_1.0.0.sql',
  ])
  const again = [...before, '20260103000000_outhook_core_1.0.0.sql']
  expect(installedMigrations(again).map(({ file }) => file)).toEqual(again.slice(-1))
})

Deno.test('newMigrations() is later than every migration of the project, also than one ahead of now', () => {
  expect(names(['20250101000000_a.sql', '20270228235959_b.sql', 'notes.sql'], [])).toEqual([
    '20270301000000_outhook_extensions_1.0.0.sql',
    '20270301000001_outhook_core_1.0.0.sql',
    '20270301000002_outhook_jobs_after_core_1.0.0.sql',
  ])
})

Deno.test('newMigrations() adds nothing that is there, of whatever version', () => {
  const existing = names([], ['api'])
  expect(names(existing, ['api'])).toEqual([])
  expect(names(existing.map((name) => name.replace('1.0.0', '0.9.2')), ['api'])).toEqual([])
})

Deno.test('newMigrations() adds a module later, with the reload of its jobs', () => {
  expect(names(names([], ['api']), ['api', 'inbox'])).toEqual([
    '20261201000004_outhook_inbox_1.0.0.sql',
    '20261201000005_outhook_jobs_after_inbox_1.0.0.sql',
  ])
})

Deno.test('newMigrations() adds the reload of the jobs if a run was interrupted before it', () => {
  const existing = names([], ['api'])
  expect(names(existing.slice(0, -1), ['api'])).toEqual(existing.slice(-1))
})

const modulesOf = (existing: string[]): string[] =>
  installedMigrations(existing).map(({ module }) => module)

Deno.test('newMigrations() does not add again what was copied by hand', async () => {
  const copied: string[] = []
  for await (const { name } of Deno.readDir(join(projectRoot, 'supabase/migrations'))) {
    copied.push(name)
  }
  expect(modulesOf(copied)).toEqual([
    ...['extensions', 'core', 'api', 'sagas', 'inbox', 'watch', 'brokers', 'messages'],
    'jobs_after_',
  ])
  expect(names(copied, ['api', 'inbox'])).toEqual([])
  // Without its file, the module is new.
  expect(names(copied.filter((name) => !name.endsWith('_inbox.sql')), ['inbox'])).toEqual([
    '20261201000000_outhook_inbox_1.0.0.sql',
    '20261201000001_outhook_jobs_after_inbox_1.0.0.sql',
  ])
})

Deno.test('init offers each module of the schema besides the core', async () => {
  const modules = (await readOrder(projectRoot)).map(({ name }) => name)
  expect(['core', ...Object.keys(moduleHints)]).toEqual(modules)
})

Deno.test('installedMigrations() reads the names that init gives, and no others', () => {
  expect(installedMigrations(['20261201000001_outhook_core_1.0.0.sql']))
    .toEqual([{ file: '20261201000001_outhook_core_1.0.0.sql', module: 'core', version: '1.0.0' }])
  expect(modulesOf(['20261201000001_my_outhook_api_1.0.0.sql', 'outhook.sql', '1_extensions.sql']))
    .toEqual([])
})
