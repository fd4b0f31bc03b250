/** Which pgTAP files run with which settings of a session. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { timeColumns, timeTexts } from '../_lint/time_texts.ts'
import { listFiles } from '../_run/files.ts'
import { profileGroups, sessionProfiles, sessionRuns, textRun } from '../_run/session_settings.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

const read = (path: string): Promise<string> => Deno.readTextFile(join(projectRoot, path))
const files = await listFiles(projectRoot, 'tests/sql', '.test.sql')

/** The profiles with which a file runs, and how often. */
function profilesOf(file: string): string[] {
  return sessionRuns.filter(({ takes }) => takes(file)).flatMap(({ profiles }) => profiles).sort()
}

Deno.test('every file has each setting once, in one database or in several', () => {
  // Serializable stands for it.
  const all = Object.keys(sessionProfiles).filter((name) => name !== 'repeatable read').sort()
  const apart = new Set(profileGroups.flatMap(({ without }) => without))
  for (const file of files.filter((file) => !apart.has(file))) {
    expect([file, profilesOf(file)]).toEqual([file, all])
  }
  for (const file of apart) {
    const groups = profileGroups.filter(({ without }) => !without.includes(file))
    expect([file, profilesOf(file)])
      .toEqual([file, groups.flatMap(({ profiles }) => profiles).sort()])
  }
})

Deno.test('every file that does not run with some settings exists', () => {
  for (const { without } of profileGroups) {
    expect(without.filter((file) => !files.includes(file))).toEqual([])
  }
})

Deno.test('the short run leaves out the files whose own statements depend on texts', () => {
  const [texts] = profileGroups
  expect(files.filter((file) => !textRun.takes(file)).sort()).toEqual(
    [...texts?.without ?? []].sort(),
  )
})

const tables = (await Promise.all((await listFiles(projectRoot, 'sql', '.sql')).map(read))).join(
  '\n',
)

Deno.test('no test that runs with the settings for texts makes a text of a time', async () => {
  const columns = timeColumns(tables)
  expect([columns.has('done_on'), columns.has('day'), columns.has('status')])
    .toEqual([true, true, false])
  const found: string[] = []
  for (const file of files.filter(textRun.takes)) {
    const lines = timeTexts(await read(file), columns)
    found.push(...lines.map((line) => `${file}, ${line}`))
  }
  // Use to_char(), at time zone 'UTC' where it has a zone, or a text of the whole row as JSON.
  expect(found).toEqual([])
})

Deno.test('timeTexts() finds the text of a time by its column or its cast, and nothing else', () => {
  const table =
    'create table outbox.audit_count (\n  org_id text,\n  day date not null,\n  at timestamptz\n)'
  const columns = timeColumns(`${table};\ncreate table u (\n  org_id date\n)`)
  expect([...columns]).toEqual(['day', 'at'])
  for (
    const [line, found] of [
      ["select c.day || ' ' || c.n", 'c.day ||'],
      ["select 'on ' || day", '|| day'],
      ["select 'on ' || c.day from c", '|| c.day'],
      ['select at::text', 'at::text'],
      ["select '1 s'::interval || ''", '::interval ||'],
      ["select ('2026-01-01'::date)::text", "('2026-01-01'::date)::text"],
    ]
  ) {
    expect(timeTexts(`\n${line}`, columns)).toEqual([`line 2: ${found}`])
  }
  for (
    const line of [
      "select to_char(day, 'YYYY') || ' '",
      "select 'on ' || day.name || a_day || day_of",
      "select ('2026-01-01 ' || at)::timestamptz from (values ('00:00')) v (at)",
      'select org_id::text || n',
      "-- day || 'x'",
      "select 'a' || (day - 1 = current_date)",
      "select outbox.uuid_v7('2026-01-01'::timestamptz)::text",
    ]
  ) {
    expect([line, timeTexts(line, columns)]).toEqual([line, []])
  }
})
