/** The console kit, run as a person runs it: one file, one statement, reading only. */

import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'

/** One line of an answer, by the names of its columns. */
export type Row = Record<string, string>

/** The paths of the kit, in order. */
export const opsQueries: string[] = await listFiles(projectRoot, 'sql/ops', '.sql')

/** The path of the query with that number. */
export function opsQuery(number: string): string {
  const path = opsQueries.find((one) => one.startsWith(`sql/ops/${number}_`))
  if (path === undefined) throw new Error(`no query ${number} in sql/ops`)
  return path
}

/**
 * Runs the query with that number, in a session that can neither write nor take long; `asked` are
 * settings such as `{ endpoint: 'example.com' }`. Throws with psql's error.
 */
export async function askOps(
  pg: Pick<Postgres, 'psql'>,
  number: string,
  asked: Record<string, string> = {},
): Promise<Row[]> {
  const before = [
    'set default_transaction_read_only = on;',
    `set statement_timeout = '10s';`,
    ...Object.entries(asked).map(([name, value]) => `set outhook.${name} = '${value}';`),
  ]
  const text = await Deno.readTextFile(join(projectRoot, opsQuery(number)))
  // CSV keeps the columns' names, and psql as a role without more rights than the console's.
  const csv = text.replace(/;\s*$/, '\\g (format=csv tuples_only=off fieldsep=,)\n')
  const { code, stdout, stderr } = await pg.psql(`${before.join('\n')}\n${csv}`)
  if (code !== 0) throw new Error(`${opsQuery(number)}: ${stderr}`)
  return readCsv(stdout)
}

/** Reads CSV without line ends in its fields. */
function readCsv(text: string): Row[] {
  const [head = [], ...rows] = text.split('\n').map((line) =>
    [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
      quoted?.replaceAll('""', '"') ?? plain ?? ''
    )
  )
  return rows.map((cells) =>
    Object.fromEntries(head.map((name, index) => [name, cells[index] ?? '']))
  )
}

/** The code block of the runbook whose fence says `name=<name>`. */
export async function runbookBlock(name: string): Promise<string> {
  const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/RUNBOOK.md'))
  const found = new RegExp(`^( *)\`\`\`sql name=${name}\\n([^]*?)^ *\`\`\`$`, 'm').exec(runbook)
    ?.[2]
  if (found === undefined) throw new Error(`no block ${name} in the runbook`)
  return found
}

/** The first command in SQL that a part of the runbook gives. */
export async function runbookCommand(part: string): Promise<string> {
  const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/RUNBOOK.md'))
  const text = runbook.split(`\n## ${part}\n`)[1]?.split('\n## ')[0] ?? ''
  const [, command = ''] = text.split('**Command**')
  const found = /`(select [^`]+;)`/.exec(command)?.[1]
  if (found === undefined) throw new Error(`no command under ${part}`)
  return found
}
