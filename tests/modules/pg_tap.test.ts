/**
 * The pgTAP tests of each module pass on a database that has only this module and those that it
 * needs. The folders of tests/sql are those of sql/. A file that also uses other modules names them
 * in its first line: `-- Modules: api, messages`.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { withNeeds } from '../../supabase/local/schema/order.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { waitsForAll } from '../_run/behind_all.ts'
import { listFiles } from '../_run/files.ts'
import { runFile, stopJobs } from '../_run/pg_tap.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { install, modules } from './_support/modules.ts'

/** What runs on one database: files that need the same modules. */
interface Share {
  needed: string[]
  files: string[]
}

/** At most so many files on one database, so that two databases at a time are busy to the end. */
const most = 40

/** The modules that a file needs, with those of its folder first. */
async function neededBy(module: string, file: string): Promise<string[]> {
  const [first = ''] = (await Deno.readTextFile(join(projectRoot, file))).split('\n', 1)
  const [, list] = /^-- Modules: (.+)$/.exec(first) ?? []
  return [module, ...list?.split(', ') ?? []]
}

async function shares(): Promise<Share[]> {
  const bySet = new Map<string, Share>()
  for (const { name, paths } of modules) {
    for (const folder of new Set(paths.map((path) => path.split('/')[1] ?? ''))) {
      for (const file of await listFiles(projectRoot, `tests/sql/${folder}`, '.test.sql')) {
        // Many rows or many cases show nothing of modules.
        if (waitsForAll(file) || file.includes('/plans/')) continue
        const needed = await neededBy(name, file)
        const share = bySet.get(needed.join()) ?? { needed, files: [] }
        bySet.set(needed.join(), share)
        share.files.push(file)
      }
    }
  }
  return [...bySet.values()].flatMap(({ needed, files }) => {
    const parts = Math.ceil(files.length / most)
    return Array.from({ length: parts }, (_, at) => ({
      needed,
      files: files.slice(at * most, (at + 1) * most),
    }))
  })
}

async function failuresOf({ needed, files }: Share): Promise<string[]> {
  await using pg = await startTestPostgres()
  await install(pg, withNeeds(modules, needed))
  await stopJobs(pg)
  const failures: string[] = []
  for (const file of files) {
    const { counts, output } = await runFile(pg, file)
    if (counts.failed > 0) failures.push(`with ${needed.join(', ')}: ${output}`)
  }
  return failures
}

Deno.test('a first line of modules names known modules besides that of the folder', async () => {
  const known = modules.map(({ name }) => name)
  for (const { needed, files } of await shares()) {
    expect([files, needed.filter((name) => !known.includes(name))]).toEqual([files, []])
    expect([files, new Set(needed).size]).toEqual([files, needed.length])
  }
})

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
