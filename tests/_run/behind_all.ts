/**
 * What only `task test --all` runs: files that take long and whose failure a file of the short run
 * would most likely show too.
 */

/** A file behind `--all`, and what stands for it in the short run. */
export interface Behind {
  file: string
  /** Why it takes long. */
  why: string
  /** Files of the short run that would still catch most of what it catches. */
  caughtBy: readonly string[]
  /** How they do, and what is left to `--all`. */
  how: string
}

export const behindAll: readonly Behind[] = [
  {
    file: 'tests/sql/plans/million.test.sql',
    why: 'It inserts a million deliveries, in 40 s.',
    caughtBy: [
      'tests/sql/plans/dispatch.test.sql',
      'tests/sql/plans/deep_keys.test.sql',
      'tests/sql/plans/event_look_ups.test.sql',
    ],
    how: 'They bound the same calls, at thousands of rows: a scan of a whole table shows there ' +
      'too. Left is a plan that turns bad only at a million rows with old statistics.',
  },
  {
    file: 'tests/project/ops_million.test.ts',
    why: 'It inserts a million deliveries and a million receipts, and asks each query three times.',
    caughtBy: ['tests/project/ops_queries.test.ts', 'tests/project/ops_holds.test.ts'],
    how: 'They run each query of the console kit and look at its answer. Left is what a query ' +
      'reads of a large table.',
  },
  {
    file: 'tests/e2e/stack_killed.test.ts',
    why: 'It starts the stack in a process of its own 13 times, and kills it each time.',
    caughtBy: [
      'tests/e2e/stack_start.test.ts',
      'tests/e2e/run_killed.test.ts',
      'tests/project/prepared.test.ts',
    ],
    how:
      'stack_start starts again in a used folder and refuses one in use; run_killed kills what ' +
      'delivers. Left is a kill in the middle of making a database.',
  },
  {
    file: 'tests/e2e/cli_database.test.ts',
    why: 'It runs each CLI 8 times, and each lints the schema.',
    caughtBy: ['tests/e2e/cli_stack.test.ts', 'tests/sql/schema/in_sync.test.ts'],
    how: 'cli_stack pushes the migrations with both CLIs. The plpgsql of each function runs in ' +
      'pgTAP. Left are the findings of lint and of the advisors.',
  },
  {
    file: 'tests/e2e/cli_deploy.test.ts',
    why: 'It deploys six functions with each CLI and checks the types of each upload.',
    caughtBy: [
      'tests/e2e/cli_stack.test.ts',
      'tests/functions/bundle.test.ts',
      'tests/project/imports.test.ts',
      'tests/project/config.test.ts',
    ],
    how: 'bundle and imports look at what a function imports, config at config.toml, and ' +
      'cli_stack reads that file with both CLIs. Left is what a CLI itself uploads.',
  },
]

const files = new Set(behindAll.map(({ file }) => file))

/** Whether only `--all`, or a word that selects it, runs the file. */
export function waitsForAll(file: string): boolean {
  return files.has(file)
}
