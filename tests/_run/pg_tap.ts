/**
 * Runs the pgTAP files named as arguments as `supabase test db` would: as the role postgres, each
 * with its own begin and rollback, against one database made by the migrations. Writes a line of
 * JSON for each.
 */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { withMigrations } from '../_support/postgres.ts'
import { applySettings, readProfiles } from './session_settings.ts'
import { keepSizes } from './table_sizes.ts'
import type { Tally } from './tally.ts'
import { readTap } from './tap.ts'

/** What came of one file. */
export interface FileResult {
  file: string
  counts: Tally
  seconds: number
  /** What psql wrote, when a test failed. */
  output: string
}

/** A statement that waits this long for one lock waits for a lock that nobody releases. */
const LOCK_TIMEOUT = '30s'

/** Far above any statement of a test, also on a busy machine: this ends only one that never would. */
const STATEMENT_TIMEOUT = '5min'

/** How often a transaction is repeated that Postgres refused to serialize. */
const REPEATS = 5

/**
 * Runs one pgTAP file on a database that has the schema. A file is one transaction.
 * Where it is serializable Postgres may refuse it for what runs beside it, and expects it to be repeated:
 * https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
 */
export async function runFile(pg: Postgres, file: string): Promise<FileResult> {
  for (let left = REPEATS;; left--) {
    const { result, isSerializationFailure } = await runOnce(pg, file)
    if (!isSerializationFailure || left === 0) return result
  }
}

async function runOnce(
  pg: Postgres,
  file: string,
): Promise<{ result: FileResult; isSerializationFailure: boolean }> {
  const started = performance.now()
  // Named rather than piped: psql then finds what a file includes beside it, and errors have a line.
  const args = [
    '-c',
    `set lock_timeout = '${LOCK_TIMEOUT}'; set statement_timeout = '${STATEMENT_TIMEOUT}'`,
    '-f',
    join(projectRoot, file),
  ]
  const { code, stdout, stderr } = await pg.psql('', { args })
  const { counts, problems } = readTap(stdout)
  // The file died after its last test: the stream alone looks whole.
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  const all = code === 0 ? problems : [...problems, `psql ended with code ${code}`]
  const result = {
    file,
    counts,
    seconds: (performance.now() - started) / 1000,
    output: counts.failed === 0 ? '' : `${file}: ${all.join('; ')}\n${stdout}\n${stderr}\n`,
  }
  // psql ends with 3 at an error of the script.
  const isSerializationFailure = code === 3 && stderr.includes('ERROR:  could not serialize access')
  return { result, isSerializationFailure }
}

/**
 * Stops the jobs of pg_cron. A test is one transaction: what a job does beside it may take a lock that the test expects
 * to be free, move a sequence, or do first what the test is about to do. tests/concurrency and tests/e2e have the jobs.
 */
export async function stopJobs(pg: Postgres): Promise<void> {
  const { code, stderr } = await pg.psql(`
    select cron.alter_job(j.jobid, active => false) from cron.job j where j.jobname like 'outhook-%'`)
  if (code !== 0) throw new Error(`cannot stop the jobs: ${stderr}`)
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    args: Deno.args,
    options: { profiles: { type: 'string' } },
    allowPositionals: true,
  })
  await withMigrations(async (pg) => {
    await stopJobs(pg)
    await applySettings(pg, readProfiles(values.profiles))
    const restoreSizes = await keepSizes(pg)
    for (const file of positionals) {
      print(JSON.stringify(await runFile(pg, file)))
      await restoreSizes()
    }
  })
}
