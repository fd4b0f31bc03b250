/** The tables of docs/reliability.md. `deno run -A tests/project/_reliability.ts` writes them into the page. */

import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { faults } from '../soak/chaos/plan.ts'
import { readRuns, tellRuns } from '../soak/chaos/results.ts'

/** The tables of the kept runs, as the page has to have them. */
export async function reliabilityTables(): Promise<string> {
  return tellRuns(await readRuns(), Object.keys(faults))
}

if (import.meta.main) {
  const page = join(projectRoot, 'docs/reliability.md')
  const text = await Deno.readTextFile(page)
  const [before = ''] = text.split(/@@runs@@|^\| +seed \|/m)
  await Deno.writeTextFile(page, `${before}${await reliabilityTables()}\n`)
}
