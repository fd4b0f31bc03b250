import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { readTap } from '../_run/tap.ts'
import type { TestOutcome } from './outcome.ts'

const applied = '(the change is in)'

/**
 * Runs a pgTAP file after `statements`, in one transaction: the file's own `begin` finds itself in it,
 * and its `rollback` takes the change away again. What the database refuses is `refused`.
 */
export async function runPgTap(
  pg: Postgres,
  { file, statements, limitMs }: { file: string; statements: string; limitMs: number },
): Promise<TestOutcome> {
  const started = performance.now()
  let late = false
  const timer = setTimeout(() => {
    late = true
    void pg.psql(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'psql' and pid <> pg_backend_pid()`,
      { as: 'supabase_admin' },
    )
  }, limitMs)
  const path = file.replaceAll("'", "''")
  const { code, stdout, stderr } = await pg.psql(
    `begin;\n${statements}\n\\echo ${applied}\n\\i '${path}'\n`,
  )
  clearTimeout(timer)
  const seconds = (performance.now() - started) / 1000
  const output = `${stdout}\n${stderr}`
  if (late) return { kind: 'timeout', seconds, output }
  if (!stdout.includes(applied)) return { kind: 'refused', seconds, output: stderr }
  const { counts } = readTap(stdout)
  const passed = code === 0 && counts.failed === 0 && counts.passed > 0
  return { kind: passed ? 'passed' : 'failed', seconds, output }
}
