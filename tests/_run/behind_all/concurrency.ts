import type { Behind } from './behind.ts'

/** Of the tests of several sessions, those that only `task test --all` runs. */
export const concurrencyBehind: readonly Behind[] = [
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
    file: 'tests/concurrency/mixed.test.ts',
    why: 'It does everything at random in eight sessions, in 10 s of CPU time.',
    caughtBy: ['tests/concurrency/crossing.test.ts', 'tests/concurrency/lock_sites.test.ts'],
    how:
      'crossing makes the calls of the engine cross, and lock_sites names a test of two sessions ' +
      'for each lock. Left is a deadlock of two calls that seldom meet.',
  },
  {
    file: 'tests/concurrency/pinned.test.ts',
    why: 'It fills tables with dead rows for 8 s of CPU time.',
    caughtBy: [
      'tests/sql/engine/plans/dispatch.test.sql',
      'tests/sql/operations/views/cheap.test.sql',
    ],
    how: 'They bound what the same calls read. Left is what dead rows add while a transaction is ' +
      'open for long.',
  },
  {
    file: 'tests/concurrency/wide.test.ts',
    why: 'It makes 10,000 endpoints and routes an event to each, in 8 s of CPU time.',
    caughtBy: [
      'tests/sql/engine/route/wide_event.test.sql',
      'tests/sql/engine/route/targets.test.sql',
    ],
    how: 'wide_event routes an event over several calls, too. Left is what other sessions wait ' +
      'meanwhile.',
  },
  {
    file: 'tests/concurrency/short_waits.test.ts',
    why: 'It waits for deadlocks and for locks that are held, in half a minute.',
    caughtBy: ['tests/concurrency/set_aside.test.ts', 'tests/concurrency/passing_refusals.test.ts'],
    how:
      'They tell refusals that pass from those of one row. Left is a lock that ends just as the ' +
      'rows are isolated.',
  },
  {
    file: 'tests/concurrency/isolation.test.ts',
    why: 'It refuses each operation on each table under four runs, in 17 s of CPU time.',
    caughtBy: [
      'tests/concurrency/every_error.test.ts',
      'tests/sql/engine/refusals/results.test.sql',
    ],
    how: 'every_error refuses statements under a worker with several SQLSTATEs, and results in ' +
      'one session. Left are four runs at once.',
  },
  {
    file: 'tests/concurrency/publishers.test.ts',
    why: 'It publishes from eight sessions and routes from three, in 7 s of CPU time.',
    caughtBy: ['tests/concurrency/late_publisher.test.ts', 'tests/concurrency/crossing.test.ts'],
    how: 'late_publisher commits after younger events, and crossing routes beside other calls. ' +
      'Left is an order that only thousands of events show.',
  },
]
