import { join } from 'node:path'
import { printRaw } from '../../supabase/local/print.ts'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { listFiles } from './files.ts'
import { namePattern, select } from './selection.ts'
import type { Step, StepContext } from './step.ts'
import { readTap } from './tap.ts'
import { add, type Tally, tally } from './tally.ts'

/**
 * A step that runs pgTAP files as `supabase test db` would: as the role postgres, each with its own
 * begin and rollback, against one database made by the migrations.
 */
export function pgTapStep({ name, folder }: { name: string; folder: string }): Step {
  return { name, run: (context) => runPgTap(name, folder, context) }
}

async function runPgTap(
  name: string,
  folder: string,
  context: StepContext,
): Promise<Tally | null> {
  const { whole, byName, names } = select(
    context.filter,
    name,
    await listFiles(context.root, folder, '.test.sql'),
  )
  // A test of a file cannot run without those before it, so a name selects the file.
  const pattern = namePattern(names)
  const files = [...whole]
  for (const file of byName) {
    if (pattern.test(await Deno.readTextFile(join(context.root, file)))) files.push(file)
  }
  if (files.length === 0) return null
  return await withSchema(context.root, 'migrations', async (pg) => {
    let counts = tally()
    for (const file of files) counts = add(counts, await runFile(pg, context.root, file))
    return counts
  })
}

async function runFile(pg: Postgres, root: string, file: string): Promise<Tally> {
  // Named rather than piped: psql then finds what a file includes beside it, and errors have a line.
  const { code, stdout, stderr } = await pg.psql('', { args: ['--file', join(root, file)] })
  const { counts, problems } = readTap(stdout)
  // The file died after its last test: the stream alone looks whole.
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  if (counts.failed > 0) {
    const all = code === 0 ? problems : [...problems, `psql ended with code ${code}`]
    printRaw(`${file}: ${all.join('; ')}\n${stdout}\n${stderr}\n`)
  }
  return counts
}
