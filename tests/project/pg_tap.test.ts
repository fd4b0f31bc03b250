import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'

for (const path of await listFiles(projectRoot, 'tests/sql', '.test.sql')) {
  Deno.test(`${path} plans its tests and leaves nothing behind`, async () => {
    const text = (await Deno.readTextFile(join(projectRoot, path))).replace(/^--.*\n/gm, '').trim()
    expect(text).toMatch(/^begin;/)
    expect(text).toMatch(/\bselect (\* from )?plan\([^;]*\d[^;]*\);/)
    expect(text).toMatch(/\bselect \* from finish\(\);\s+rollback;$/)
    // As a statement: the word itself may stand in a text or a name.
    expect(text).not.toMatch(/(^|;)\s*commit\b/m)
  })
}
