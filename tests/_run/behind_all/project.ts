import type { Behind } from './behind.ts'

/** Of the tests of modules and of the project itself, those that only `task test --all` runs. */
export const projectBehind: readonly Behind[] = [
  {
    file: 'tests/modules/pg_tap.test.ts',
    why: 'It runs nearly all pgTAP files again, each on a database with only its module.',
    caughtBy: ['tests/modules/check.test.ts', 'tests/modules/names.test.ts'],
    how:
      'check runs plpgsql_check over each combination of modules, and names looks for a name of ' +
      'a module that is not needed. Left is what a function does differently without a module.',
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
    file: 'tests/modules/example_kind/schema.test.ts',
    why: 'It makes a database for each module and compares it, in 9 s of CPU time.',
    caughtBy: ['tests/modules/example_kind/delivery.test.ts', 'tests/modules/names.test.ts'],
    how: 'delivery sends by the example kind. Left is what it adds beside each module.',
  },
  {
    file: 'tests/modules/rights.test.ts',
    why: 'It applies the modules in other orders and compares all, in 7 s of CPU time.',
    caughtBy: ['tests/sql/rights/table.test.sql', 'tests/modules/check.test.ts'],
    how: 'table has every right of the whole schema. Left is a module that is added later.',
  },
  {
    file: 'tests/project/docs_copies.test.ts',
    why: 'It makes four copies of a database, in 6 s of CPU time.',
    caughtBy: ['tests/sql/operations/decide_copy/decisions.test.sql'],
    how:
      'decisions decides about a copy by the same calls. Left are the calls as the page has them.',
  },
  {
    file: 'tests/project/ops_million.test.ts',
    why: 'It inserts a million deliveries and a million attempts, and asks each query three times.',
    caughtBy: ['tests/project/ops_queries.test.ts', 'tests/project/ops_holds.test.ts'],
    how: 'They run each query of the console kit and look at its answer. Left is what a query ' +
      'reads of a large table.',
  },
  {
    file: 'tests/modules/functions.test.ts',
    why: 'It starts functions on databases that lack modules, in 10 s of CPU time.',
    caughtBy: ['tests/modules/check.test.ts', 'tests/modules/names.test.ts'],
    how: 'They hold what a module may name of another one. Left is what a function says of a ' +
      'missing module.',
  },
  {
    file: 'tests/modules/example_channel/schema.test.ts',
    why: 'It makes a database for each combination of modules, in 12 s of CPU time.',
    caughtBy: ['tests/modules/example_channel/delivery.test.ts', 'tests/modules/names.test.ts'],
    how: 'delivery sends by the example channel. Left is what it adds beside each module.',
  },
  {
    file: 'tests/project/docs_try_whatsapp.test.ts',
    why: 'It starts a stack and makes the calls of two pages, in 8 s of CPU time.',
    caughtBy: ['tests/e2e/messages.test.ts', 'tests/e2e/callbacks.test.ts'],
    how: 'They make the same calls with other words. Left are the calls as the pages have them.',
  },
  {
    file: 'tests/project/docs_database.test.ts',
    why: 'It holds what the pages say of the database against one, in 7 s of CPU time.',
    caughtBy: ['tests/project/docs_tables.test.ts', 'tests/project/docs_links.test.ts'],
    how: 'docs_tables compares the tables of the pages with the code. Left are statements of ' +
      'the pages that need a database.',
  },
  {
    file: 'tests/project/ops_dashboard_schema.test.ts',
    why: "It checks the dashboard against Grafana's types, in 5 s of CPU time.",
    caughtBy: ['tests/project/ops_dashboard.test.ts'],
    how: 'ops_dashboard reads each query and series of the dashboard. Left is a name that ' +
      'Grafana does not know.',
  },
  {
    file: 'tests/project/docs_receivers.test.ts',
    why: 'It starts the receivers of the pages, and lacks secrets and ports, in 9 s of CPU time.',
    caughtBy: [
      'tests/project/docs_first_webhook.test.ts',
      'tests/package/receive/verify.test.ts',
    ],
    how: 'docs_first_webhook sends a webhook to each receiver of README. Left are forged ' +
      'requests at the receivers of other pages.',
  },
]
