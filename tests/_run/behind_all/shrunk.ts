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
    less: 'It plays 60 sequences instead of 600.',
    how: 'The pgTAP files of dispatch, claim, complete and states hold the same promises one by ' +
      'one; any seed of the 60 may still find what no file names.',
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
    file: 'tests/project/ops_queries.test.ts',
    less: 'The newer Supabase CLI runs a query of the console kit, the older one does not.',
    how: 'The query is the same text, and both CLIs run it with --all.',
  },
  {
    file: 'tests/e2e/cli_stack.test.ts',
    less: 'The newer Supabase CLI pushes the migrations, the older one does not.',
    how: 'Both CLIs read and write the same table of migrations. Left is how the older one ' +
      'splits a migration into statements.',
  },
  {
    file: 'tests/_run/steps.ts',
    less: 'Under the edge level of Deno the tests of what meets the network or the runtime run, ' +
      'without their types checked by it.',
    how:
      'The newer Deno runs all of them and checks the same types. What computes alone does not ' +
      'depend on the runtime; project/imports has what it may import.',
  },
]
