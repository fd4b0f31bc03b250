import type { Behind } from './behind.ts'

/** Of the pgTAP files, those that only `task test --all` runs. */
export const sqlBehind: readonly Behind[] = [
  {
    file: 'tests/sql/messages/judge/orders.test.sql',
    why: 'It judges messages in some thousand orders of events, in 10 s of CPU time.',
    caughtBy: [
      'tests/sql/messages/judge/cases.test.sql',
      'tests/sql/messages/judge/table.test.sql',
    ],
    how:
      'table has every combination of states of the attempts, and cases has the orders from the ' +
      'field. Left is an order that nobody has thought of.',
  },
  {
    file: 'tests/sql/messages/plans/messages.test.sql',
    why: 'It makes 100,000 messages, in 10 s.',
    caughtBy: [
      'tests/sql/messages/plans/people.test.sql',
      'tests/sql/messages/plans/callbacks.test.sql',
    ],
    how: 'They bound the calls of the same tables at fewer rows. Left are the lists and the key ' +
      'queries of the specification.',
  },
  {
    file: 'tests/sql/watch/backfill/million.test.sql',
    why: 'It inserts a million rows, in 7 s of CPU time.',
    caughtBy: ['tests/sql/watch/backfill/many.test.sql'],
    how: 'The same steps among 50,000 rows, with the same bounds. Left is a plan that turns bad ' +
      'only at a million rows.',
  },
  {
    file: 'tests/sql/operations/views/history.test.sql',
    why: 'It makes 200,000 attempts, in 10 s.',
    caughtBy: [
      'tests/sql/operations/views/cheap.test.sql',
      'tests/sql/operations/views/recount.test.sql',
    ],
    how: 'cheap bounds what the views read of open deliveries, and recount compares each answer ' +
      'with a count by hand. Left is a plan over several days of history.',
  },
  {
    file: 'tests/sql/operations/views/naive_recount.test.sql',
    why: 'It makes 300 random acts and 71 nights, in 20 s of CPU time.',
    caughtBy: [
      'tests/sql/operations/views/recount.test.sql',
      'tests/sql/operations/views/stated.test.sql',
    ],
    how:
      'recount compares endpoint_status and queue_health with a count by hand, and stated holds ' +
      'what the others say of each delivery, also after its rows have gone. Left are rare sequences.',
  },
  {
    file: 'tests/sql/api/plans/console_lists_million.test.sql',
    why: 'It inserts a million events and as many attempts, in about two minutes.',
    caughtBy: ['tests/sql/api/plans/console_lists.test.sql'],
    how:
      'The same lists among 12,000 events, with the same bounds. Left is a plan that turns bad ' +
      'only at a million rows, and the bound of lists that read 20,000 events.',
  },
  {
    file: 'tests/sql/api/plans/lists.test.sql',
    why: 'It makes 50,000 events and their deliveries, in 6 s.',
    caughtBy: [
      'tests/sql/api/list_deliveries/pages.test.sql',
      'tests/sql/api/list_dead_letters/pages.test.sql',
    ],
    how:
      'They walk all pages of the lists, whose order and bounds the indexes give. Left is a page ' +
      'that reads more than it shows.',
  },
  {
    file: 'tests/sql/engine/states/endpoint.test.sql',
    why: 'It tries every change in every status of an endpoint, in 7 s of CPU time.',
    caughtBy: ['tests/sql/engine/states/transitions.test.sql', 'tests/e2e/api_endpoints.test.ts'],
    how: 'transitions has the same table of a delivery, whose endpoint changes under it, and ' +
      'api_endpoints makes the usual changes. Left are changes that are refused in a rare status.',
  },
  {
    file: 'tests/sql/engine/states/breaker.test.sql',
    why: 'It tries every event in every status of a breaker, in 7 s of CPU time.',
    caughtBy: [
      'tests/sql/engine/breaker/opens.test.sql',
      'tests/sql/engine/breaker/one_probe.test.sql',
      'tests/sql/engine/breaker/closes.test.sql',
      'tests/sql/engine/breaker/late_results.test.sql',
    ],
    how:
      'They have each rule of the breaker one by one. Left is an event in a status in which it ' +
      'does not usually come.',
  },
  {
    file: 'tests/sql/engine/states/replay_job.test.sql',
    why: 'It tries every change in every status of a replay job, in 4 s of CPU time.',
    caughtBy: [
      'tests/concurrency/replay_jobs.test.ts',
      'tests/sql/operations/replay_many/share.test.sql',
    ],
    how: 'replay_jobs changes a job while it runs, from two sessions. Left are changes that are ' +
      'refused in a rare status.',
  },
  {
    file: 'tests/sql/engine/route/flood.test.sql',
    why: 'It routes beside bulk loads of many organisations, in 6 s of CPU time.',
    caughtBy: ['tests/sql/engine/route/turns.test.sql'],
    how:
      'turns has the rules by which organisations take turns. Left is their bound at thousands ' +
      'of events.',
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
    file: 'tests/sql/engine/plans/turns_million.test.sql',
    why: 'It inserts a million rows of work of 2,000 organisations, in about a minute.',
    caughtBy: ['tests/sql/engine/route/turns.test.sql', 'tests/sql/schema/rights.test.sql'],
    how: 'turns makes the same calls with few rows, and rights finds a function ' +
      'that may sort although it must read in the order of an index. Left is a plan that turns ' +
      'bad only at many rows.',
  },
  {
    file: 'tests/sql/engine/plans/refusals_million.test.sql',
    why: 'It inserts a million refusals, in about a minute.',
    caughtBy: ['tests/sql/engine/plans/refusals.test.sql'],
    how: 'The same calls with 1,000 refusals and the same statistics.',
  },
  {
    file: 'tests/sql/engine/route/first_turn.test.sql',
    why: 'It routes 4,000 large events with filters, in half a minute of CPU time.',
    caughtBy: ['tests/sql/engine/route/turns.test.sql', 'tests/sql/engine/route/batches.test.sql'],
    how: 'turns has the rules by which organisations take turns, and batches how much a call ' +
      'takes. Left is the first one of a turn beside much work of others.',
  },
  {
    file: 'tests/sql/engine/plans/organisations.test.sql',
    why: 'It makes 1,000 organisations with their events, in half a minute of CPU time.',
    caughtBy: [
      'tests/sql/engine/plans/dispatch.test.sql',
      'tests/sql/engine/claim/org_share.test.sql',
    ],
    how: 'dispatch bounds what the same calls read beside few organisations, and org_share has ' +
      'their shares. Left is a plan that turns bad with the number of organisations.',
  },
  {
    file: 'tests/sql/engine/plans/turns.test.sql',
    why:
      'It makes 20,000 to 50,000 rows of each kind of work, in a quarter of a minute of CPU time.',
    caughtBy: ['tests/sql/engine/route/turns.test.sql', 'tests/sql/schema/rights.test.sql'],
    how: 'route/turns makes the same calls with few rows, and rights finds a function that may ' +
      'sort although it must read in the order of an index. Left is a plan that turns bad ' +
      'at many rows.',
  },
  {
    file: 'tests/sql/engine/refusals/every_table.test.sql',
    why: 'It refuses a statement on each table in turn, in 7 s of CPU time.',
    caughtBy: [
      'tests/sql/engine/refusals/results.test.sql',
      'tests/sql/engine/refusals/claims.test.sql',
      'tests/concurrency/every_error.test.ts',
    ],
    how: 'They refuse results, claims, and each kind of statement of a run with a worker. Left ' +
      'is a table that only a rare failure writes to.',
  },
]
