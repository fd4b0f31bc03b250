import { expect } from '@std/expect'
import { join } from 'node:path'
import { freeze } from '../../supabase/local/freeze.ts'
import {
  compareVersions,
  lastCandidate,
  lastRelease,
  splitFiles,
} from '../../supabase/local/schema/release.ts'
import { buildUpgrade, type ModuleUpgrade } from '../../supabase/local/schema/upgrade.ts'
import { upgradePath, writeUpgrade } from '../../supabase/local/schema/upgrade_files.ts'
import { testFolder } from '../_support/folder.ts'

const publish = `create function outbox.publish(p_type text, p_more jsonb default '{}')
returns uuid
language plpgsql set search_path = ''
as $$
begin
  return null; -- a semicolon, and a comment
end
$$;
comment on function outbox.publish(text, jsonb) is 'Publishes; with a semicolon.';
`
const table = 'create table outbox.event (\n  id uuid\n);\n'
const rights = 'select outbox.close_new();\ngrant select on outbox.event to service_role;\n'

function upgradeOf(
  before: Record<string, string>,
  after: Record<string, string>,
  more: Partial<ModuleUpgrade> = {},
): ReturnType<typeof buildUpgrade> {
  const files = (texts: Record<string, string>): ModuleUpgrade['before'] =>
    Object.entries(texts).map(([path, text]) => ({ path: `sql/${path}.sql`, text }))
  return buildUpgrade({
    name: 'core',
    from: '1.0.0',
    to: '1.1.0',
    before: files(before),
    after: files(after),
    steps: null,
    replaced: new Set(),
    ...more,
  })
}

const whole = { 'events/event': table, 'events/publish': publish, 'events/rights': rights }

Deno.test('buildUpgrade() of an unchanged module only checks and records its version', () => {
  const { text, replaced, byHand } = upgradeOf(whole, whole)
  expect([replaced.size, byHand]).toEqual([0, []])
  expect(text).toContain("select outbox.check_module('core', '1.0.0');")
  expect(text).toMatch(/select outbox\.close_new\(\);\nselect outbox\.record_module\('core'\);\n$/)
  expect(text).not.toMatch(/create|grant/)
})

Deno.test('buildUpgrade() replaces a changed function, and applies the rights of its folder', () => {
  const { text, replaced } = upgradeOf(whole, {
    ...whole,
    'events/publish': publish.replace('return null', 'return p_id'),
  })
  expect([...replaced]).toEqual(['publish'])
  expect(text).toContain('create or replace function outbox.publish(p_type text')
  expect(text).toContain('return p_id; -- a semicolon, and a comment')
  expect(text).not.toContain('comment on function')
  expect(text).not.toContain('drop function')
  expect(text).toContain('grant select on outbox.event to service_role;')
})

Deno.test('buildUpgrade() drops a function with other arguments or another result, or that is gone', () => {
  const drop = 'drop function outbox.publish(p_type text, p_more jsonb);\n'
  for (
    const changed of [
      publish.replace('p_type text', 'p_type text, p_at timestamptz'),
      publish.replace('returns uuid', 'returns text'),
      publish.replace('p_type', 'p_event_type'),
      'select 1;',
    ]
  ) expect(upgradeOf(whole, { ...whole, 'events/publish': changed }).text).toContain(drop)
  const other = publish.replace("default '{}'", "default '[]'")
  expect(upgradeOf(whole, { ...whole, 'events/publish': other }).text).not.toContain('drop')
})

Deno.test('buildUpgrade() names what the steps must do, and puts them before the functions', () => {
  const after = { ...whole, 'events/event': table.replace('id uuid', 'id uuid,\n  at timestamptz') }
  expect(upgradeOf(whole, after).byHand).toEqual([
    'sql/events/event.sql: create table outbox.event (',
  ])
  const steps = { path: 'sql/upgrades/1.1.0/core', text: 'alter table outbox.event …;' }
  const changed = { ...after, 'events/publish': publish.replace('return null', 'return p_id') }
  const { text } = upgradeOf(whole, changed, { steps })
  expect(text.indexOf('alter table')).toBeGreaterThan(text.indexOf('check_module'))
  expect(text.indexOf('alter table')).toBeLessThan(text.indexOf('create or replace'))
})

Deno.test('buildUpgrade() of a module puts its replacement of a function of the core back', () => {
  const module = {
    'watch/publish': publish.replace('create function', 'create or replace function'),
  }
  const more = { name: 'watch', replaced: new Set(['publish']) }
  const { text } = upgradeOf(module, module, more)
  expect(text).toContain('create or replace function outbox.publish')
  expect(text).toContain(
    "check_module('core', '1.1.0');\nselect outbox.check_module('watch', '1.0.0');",
  )
  expect(upgradeOf(module, module, { name: 'watch' }).text).not.toContain('create')
})

Deno.test('the upgrades of a version come after those of all earlier versions', () => {
  const paths = ['1.0.9', '1.1.0', '1.10.0', '2.0.0'].map((version) =>
    upgradePath(version, 6, 'api')
  )
  expect(paths.toSorted()).toEqual(paths)
  expect(paths[1]).toBe('supabase/migrations/20260202010006_outhook_api_1.1.0.sql')
  expect(['1.10.0', '1.9.1', '1.9.0'].toSorted(compareVersions)).toEqual([
    '1.9.0',
    '1.9.1',
    '1.10.0',
  ])
})

Deno.test('a frozen release is read as it was written, and the next version is built from it', async () => {
  const root = testFolder()
  const write = async (path: string, text: string): Promise<void> => {
    await Deno.mkdir(join(root, path, '..'), { recursive: true })
    await Deno.writeTextFile(join(root, path), text)
  }
  const setVersion = (version: string): Promise<void> =>
    write('functions/_shared/base/version.ts', `export const version = '${version}'\n`)
  try {
    await setVersion('1.0.0')
    await write('CHANGELOG.md', '## [Unreleased]\n')
    await write('sql/order.txt', '[core]\nevents/event\nevents/publish\n')
    await write('sql/events/event.sql', table)
    await write('sql/events/publish.sql', publish)
    await write('supabase/migrations/kept.sql', '')
    expect(await writeUpgrade(root, false)).toBe(null)
    expect((await freeze(root)).code).toBe(0)
    expect(await lastRelease(root)).toEqual({
      version: '1.0.0',
      modules: new Map([['core', [
        { path: 'sql/events/event.sql', text: table.trim() },
        { path: 'sql/events/publish.sql', text: publish.trim() },
      ]]]),
    })
    expect(await writeUpgrade(root, false)).toBe(null)

    const named = "select jsonb_build_object('version', '1.0.0');\n"
    await write('sql/events/event.sql', table + named)
    expect((await freeze(root, 'rc.1')).code).toBe(1)
    for (const name of ['1.0.0-rc.9', '1.0.0-rc.10']) {
      expect((await freeze(root, name)).code).toBe(0)
    }
    expect((await freeze(root, '1.0.0-rc.9')).message).toContain('is stored already')
    const candidate = await lastCandidate(root)
    expect(candidate?.version).toBe('1.0.0-rc.10')
    expect(candidate?.modules.get('core')?.[0]?.text).toContain("'version', '1.0.0-rc.10'")
    expect((await lastRelease(root))?.version).toBe('1.0.0')
    await write('sql/events/event.sql', table)

    await write('CHANGELOG.md', '## [Unreleased]\n\n## [1.0.0] - 2026-12-24\n')
    expect((await freeze(root)).message).toContain('1.0.0 is released')

    await setVersion('1.1.0')
    await write('sql/events/event.sql', table.replace('id uuid', 'id uuid,\n  at timestamptz'))
    expect(await writeUpgrade(root, true)).toMatchObject({ code: 1 })
    expect((await writeUpgrade(root, false))?.message).toMatch(
      /Built [^\n]+\nThese changes need a step/,
    )
    // A step of another change does not stand for this one.
    await write('sql/upgrades/1.1.0/core/type.sql', 'alter table outbox.event_type add note text;')
    expect((await writeUpgrade(root, false))?.message).toMatch(
      /step[^\n]+\n {2}sql\/events\/event\.sql: create table outbox\.event \($/,
    )
    await write(
      'sql/upgrades/1.1.0/core/time.sql',
      'alter table outbox.event add column at timestamptz;',
    )
    expect((await writeUpgrade(root, false))?.code).toBe(0)
    expect(await writeUpgrade(root, true)).toMatchObject({ code: 0 })
    await freeze(root)
    expect(await writeUpgrade(root, true)).toBe(null)
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})

Deno.test('splitFiles() ignores what is before the first file', () => {
  expect(splitFiles('-- head\nselect 1;\n\n-- sql/a/b.sql\n\nselect 2;\n')).toEqual([
    { path: 'sql/a/b.sql', text: 'select 2;' },
  ])
})
