/** Lists of files that one word of the command line selects. */

/**
 * Files of what differs by the version of Postgres and pg_cron: the job list and the seconds of pg_cron, rights and
 * extensions, locks of partitions, errors and statistics, logical replication, dump, restore and upgrade, and the
 * protocol. The SQL tests have the plans.
 */
const byVersion = [
  'tests/concurrency/claimers.test.ts',
  'tests/concurrency/kick.test.ts',
  'tests/concurrency/lock_sites.test.ts',
  'tests/concurrency/partitions.test.ts',
  'tests/concurrency/short_waits.test.ts',
  'tests/e2e/copies.test.ts',
  'tests/e2e/cron_jobs.test.ts',
  'tests/e2e/gateway_errors.test.ts',
  'tests/e2e/job_timeouts.test.ts',
  'tests/e2e/moves.test.ts',
  'tests/e2e/poolers.test.ts',
  'tests/e2e/postgres_net.test.ts',
  'tests/e2e/postgres_rights.test.ts',
  'tests/e2e/postgres_start.test.ts',
  'tests/e2e/postgres_vault.test.ts',
  'tests/e2e/publication.test.ts',
  'tests/e2e/run_killed.test.ts',
  'tests/e2e/upgraded.test.ts',
  'tests/e2e/versions.test.ts',
  'tests/e2e/watch_restored.test.ts',
]

/** By the word that selects them. */
export const groups: ReadonlyMap<string, readonly string[]> = new Map([['by-version', byVersion]])

/** The words, with the files of a group in place of its name. */
export function withGroups(words: readonly string[]): string[] {
  return words.flatMap((word) => groups.get(word) ?? [word])
}
