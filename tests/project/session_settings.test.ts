/** Which pgTAP files run with which settings of a session. */

import { expect } from '@std/expect'
import { listFiles } from '../_run/files.ts'
import { profileGroups, sessionProfiles, sessionRuns, textRun } from '../_run/session_settings.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

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
