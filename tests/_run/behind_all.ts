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
    file: 'tests/modules/pg_tap.test.ts',
    why: 'It runs nearly all pgTAP files again, each on a database with only its module.',
    caughtBy: ['tests/modules/check.test.ts', 'tests/modules/names.test.ts'],
    how:
      'check runs plpgsql_check over each combination of modules, and names looks for a name of ' +
      'a module that is not needed. Left is what a function does differently without a module.',
  },
  {
    file: 'tests/concurrency/dying.test.ts',
    why: 'It makes dispatch die at each of some hundred rows, and compares all tables each time.',
    caughtBy: [
      'tests/concurrency/repeat.test.ts',
      'tests/concurrency/poison.test.ts',
      'tests/e2e/run_killed.test.ts',
    ],
    how: 'repeat makes a call again whose answer was lost, poison has rows that are refused, and ' +
      'run_killed kills a run at its worst moments. Left is a death at any other row.',
  },
  {
    file: 'tests/project/bench_run.test.ts',
    why: 'It measures two queues and a fan-out, in 20 s and more.',
    caughtBy: ['tests/project/bench_checks.test.ts', 'tests/project/bench_results.test.ts'],
    how:
      'They hold the rules by which a benchmark counts and judges. Left is the comparison with ' +
      'other queues, which is no part of the product.',
  },
  {
    file: 'tests/project/bench_engine.test.ts',
    why: 'It runs each part of the benchmark of the engine once, in 40 s.',
    caughtBy: ['tests/project/bench_results.test.ts', 'tests/project/bench_targets.test.ts'],
    how: 'They hold how figures are kept and judged. Left is whether the command itself runs.',
  },
  {
    file: 'tests/consumer/stack.test.ts',
    why: 'It starts the stack, Kafka and RabbitMQ, and two consumers.',
    caughtBy: ['tests/consumer/brokers.test.ts', 'tests/e2e/example_consumer.test.ts'],
    how: 'brokers consumes from both brokers into the same functions, and example_consumer takes ' +
      'what the stack has published. Left is both in one piece.',
  },
  {
    file: 'tests/sql/engine/plans/million.test.sql',
    why: 'It inserts a million deliveries, in 40 s.',
    caughtBy: [
      'tests/sql/engine/plans/dispatch.test.sql',
      'tests/sql/engine/plans/deep_keys.test.sql',
      'tests/sql/engine/plans/event_look_ups.test.sql',
    ],
    how: 'They bound the same calls, at thousands of rows: a scan of a whole table shows there ' +
      'too. Left is a plan that turns bad only at a million rows with old statistics.',
  },
  {
    file: 'tests/sql/engine/plans/refusals_million.test.sql',
    why: 'It inserts a million refusals, in about a minute.',
    caughtBy: ['tests/sql/engine/plans/refusals.test.sql'],
    how: 'The same calls with 1,000 refusals and the same statistics.',
  },
  {
    file: 'tests/project/ops_million.test.ts',
    why: 'It inserts a million deliveries and a million attempts, and asks each query three times.',
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
  {
    file: 'tests/e2e/upgraded.test.ts',
    why: 'It unpacks PostgreSQL 17, and runs pg_upgrade for 15 s.',
    caughtBy: ['tests/e2e/moves.test.ts', 'tests/e2e/copies.test.ts'],
    how:
      'moves restores a database in place under a worker, and copies delivers from a dump: the ' +
      'database has another identity there, too. Left is what pg_upgrade itself changes.',
  },
  {
    file: 'tests/start/interrupted.test.ts',
    why: 'It makes a first start at each of its steps, and ends it there.',
    caughtBy: ['tests/e2e/start_once.test.ts', 'tests/project/run_processes.test.ts'],
    how: 'start_once ends a running start, and run_processes looks for what it leaves. Left is a ' +
      'signal in the middle of the first start.',
  },
  {
    file: 'tests/start/bad_input.test.ts',
    why: 'It makes eleven first starts, most of them with an empty cache.',
    caughtBy: ['tests/start/failures.test.ts', 'tests/functions/local/failures.test.ts'],
    how:
      'They read the same causes from their texts and start what fails. Left is whether a real ' +
      'disk, proxy or file system gives these texts.',
  },
  {
    file: 'tests/e2e/cron_jobs.test.ts',
    why: 'It waits for pg_cron to miss a job, which takes a minute on pg_cron 1.4.',
    caughtBy: ['tests/sql/time/tick/problem.test.sql', 'tests/e2e/stack_start.test.ts'],
    how:
      'problem tells a tick that does not run, and stack_start needs one. Left is the job list ' +
      'of an idle pg_cron after a large transaction.',
  },
]

/** What the short run does less of, in the files that stay. */
export interface Shrunk {
  file: string
  /** What it does less of. */
  less: string
  /** What the short run would still catch its failure by. */
  how: string
}

/** Each file reads OUTHOOK_TESTS, which is `short` or `all`, or is a step that is told of it. */
export const shrunk: readonly Shrunk[] = [
  {
    file: 'tests/property/engine.test.ts',
    less: 'It plays 150 sequences instead of 2,000.',
    how: 'The pgTAP files of dispatch, claim, complete and states hold the same promises one by ' +
      'one; any seed of the 150 may still find what no file names.',
  },
  {
    file: 'tests/e2e/run_configuration.test.ts',
    less: 'It changes the endpoint 40 times under load instead of 200.',
    how: 'A claim that reads an old configuration shows in most of the changes.',
  },
  {
    file: 'tests/e2e/delivery_many.test.ts',
    less: 'It publishes 600 events for the 50 endpoints instead of 2,000.',
    how: 'Each kind of subscription still gets dozens of events from edge runs and a worker side ' +
      'by side; soak/kills sends many more.',
  },
  {
    file: 'tests/e2e/api_clients.test.ts',
    less: 'The programs of the page run without a check of their types.',
    how:
      'They still run against the API. What the types are made from, openapi.json, is compared ' +
      'with the code (project/openapi) and with the responses (e2e/api_fuzz).',
  },
  {
    file: 'tests/concurrency/crossing.test.ts',
    less: 'It crosses 600 calls of dispatch instead of 1,600.',
    how:
      'A lock that is gone or out of order has a test of two sessions (lock_sites names it), and ' +
      'a deadlock of these twenty endpoints shows within the first hundred calls.',
  },
  {
    file: 'tests/e2e/api_fuzz.test.ts',
    less: 'It sends each operation 15 requests instead of 40.',
    how: 'The limits of each field have tests on both sides (functions/api/request_limits), and ' +
      'each run draws other values.',
  },
  {
    file: 'tests/project/docs_receivers.test.ts',
    less: 'It starts one of the three receivers without a secret or with a taken port.',
    how: 'All three still verify, refuse and do their work once.',
  },
  {
    file: 'tests/project/ops_queries.test.ts',
    less: 'The newer Supabase CLI runs a query of the console kit, the older one does not.',
    how: 'The query is the same text, and cli_stack runs both CLIs.',
  },
  {
    file: 'tests/_run/steps.ts',
    less: 'The functions run under the edge level of Deno without their types checked by it.',
    how: 'The newer Deno checks the same types, and what is missing at run time fails its test.',
  },
]

const files = new Set(behindAll.map(({ file }) => file))

/** Whether only `--all`, or a word that selects it, runs the file. */
export function waitsForAll(file: string): boolean {
  return files.has(file)
}
