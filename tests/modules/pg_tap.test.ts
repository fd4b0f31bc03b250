/**
 * The pgTAP tests of each module pass on a database that has only this module and those that it
 * needs. The folders of tests/sql are those of sql/.
 */

import { withNeeds } from '../../supabase/local/schema/order.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { runFile } from '../_run/pg_tap.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { install, modules } from './_support/modules.ts'

/** What runs on one database: files of one module. */
interface Share {
  module: string
  files: string[]
}

/** At most so many files on one database, so that two databases at a time are busy to the end. */
const most = 40

async function shares(): Promise<Share[]> {
  const found: Share[] = []
  for (const { name, paths } of modules) {
    const folders = [...new Set(paths.map((path) => path.split('/')[1] ?? ''))]
    const files: string[] = []
    for (const folder of folders) {
      files.push(...await listFiles(projectRoot, `tests/sql/${folder}`, '.test.sql'))
    }
    // A million rows show nothing of modules.
    const small = files.filter((file) => !file.endsWith('/million.test.sql'))
    for (let at = 0; at < small.length; at += most) {
      found.push({ module: name, files: small.slice(at, at + most) })
    }
  }
  return found
}

async function failuresOf({ module, files }: Share): Promise<string[]> {
  await using pg = await startTestPostgres()
  await install(pg, withNeeds(modules, [module]))
  const failures: string[] = []
  for (const file of files) {
    const { counts, output } = await runFile(pg, file)
    if (counts.failed > 0) failures.push(`on ${module}: ${output}`)
  }
  return failures
}

Deno.test('the pgTAP tests of each module pass without the modules that it does not need', async () => {
  const waiting = await shares()
  const failures: string[] = []
  const work = async (): Promise<void> => {
    for (let share = waiting.shift(); share !== undefined; share = waiting.shift()) {
      failures.push(...await failuresOf(share))
    }
  }
  await Promise.all([work(), work()])
  if (failures.length > 0) throw new Error(failures.join('\n'))
})
