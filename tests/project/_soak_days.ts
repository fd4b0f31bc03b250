/** The table of simulated days of docs/reliability.md. `deno run -A tests/project/_soak_days.ts` writes it into the page. */

import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { readKept } from '../soak/days/kept.ts'
import { DAY_HEAD, tellDay } from '../soak/days/report.ts'

/** The sentence about the scale and the table, as the page has to have them. */
export async function soakDaysTables(): Promise<[sentence: string, table: string]> {
  const { scale, perDay, days } = await readKept(null)
  return [
    `at 1/${scale} of 100 million, so ${perDay} deliveries a day.`,
    [DAY_HEAD, ...days.map(tellDay)].join('\n'),
  ]
}

if (import.meta.main) {
  const page = join(projectRoot, 'docs/reliability.md')
  const text = await Deno.readTextFile(page)
  const [sentence, table] = await soakDaysTables()
  await Deno.writeTextFile(
    page,
    text.replace(/at 1\/\w+ of 100 million, so \w+ deliveries a day\./, sentence)
      .replace(/^(?:TABLE\n|\| +day \|(?:.*\n)(?:\|.*\n)*)/m, `${table}\n`),
  )
}
