import type { Behind } from './behind.ts'

/** Of the tests in a browser, those that only `task test --all` runs. */
export const pagesBehind: readonly Behind[] = [
  {
    file: 'tests/console/tasks.test.ts',
    why: 'It starts a stack and a browser, and does what an operator does, in about half a minute.',
    caughtBy: [
      'tests/console/server.test.ts',
      'tests/console/form.test.ts',
      'tests/console/texts.test.ts',
    ],
    how: 'They have what the page and its server decide, without a browser; e2e/api_events and ' +
      'its neighbours have the routes that it calls. Left are the views.',
  },
  {
    file: 'tests/console/ten_tasks.test.ts',
    why: 'It starts a stack and a browser, and does ten tasks as a new user would, in a minute.',
    caughtBy: [
      'tests/console/server.test.ts',
      'tests/console/form.test.ts',
      'tests/portal/react.test.ts',
    ],
    how: 'They have what the pages decide without a browser, and one view of the element; ' +
      'e2e/api_events and its neighbours have the routes. Left is how many clicks a task takes.',
  },
  {
    file: 'tests/console/load.test.ts',
    why: 'It starts a stack and a browser, in about ten seconds.',
    caughtBy: ['tests/console/size.test.ts', 'tests/console/long_list.test.ts'],
    how: 'size builds both pages, and long_list opens the console. Left is that the benchmark of ' +
      'the load time finds what it waits for.',
  },
  {
    file: 'tests/console/failing_view.test.ts',
    why: 'It starts a stack and a browser, and waits for polls that fail, in about half a minute.',
    caughtBy: ['tests/portal/token.test.ts', 'tests/console/server.test.ts'],
    how:
      'token tests which failures may be repeated, and server what the page gets. Not covered: ' +
      'what a failing view shows.',
  },
  {
    file: 'tests/console/groups.test.ts',
    why: 'It starts a stack and a browser, and replays dead letters by their error.',
    caughtBy: [
      'tests/sql/api/preview_replay_job/of_a_group.test.sql',
      'tests/sql/api/group_dead_letters/groups.test.sql',
    ],
    how:
      'They have what a group counts and what its job replays. Left are the dialog and the job ' +
      'that goes on without the page.',
  },
  {
    file: 'tests/console/headers.test.ts',
    why: 'It starts a stack and a browser, and sends events with changed headers.',
    caughtBy: ['tests/console/form.test.ts', 'tests/e2e/api_endpoints.test.ts'],
    how: 'form tests the errors and the request, and api_endpoints what the API does with it. ' +
      'Not covered: the fields.',
  },
  {
    file: 'tests/console/many_endpoints.test.ts',
    why: 'It makes 5,000 endpoints, and opens their list in a browser.',
    caughtBy: ['tests/console/server.test.ts', 'tests/sql/api/api_endpoints/plans.test.sql'],
    how: 'plans bounds what a page of the list reads. Left is what a browser draws.',
  },
  {
    file: 'tests/console/thousand_deliveries.test.ts',
    why:
      'It makes 1,020 endpoints, and counts what the page of an event asks for, in half a minute.',
    caughtBy: ['tests/console/many_deliveries.test.ts'],
    how:
      'many_deliveries counts the same with 45. Left are the words about the first 1,000, and a ' +
      'delivery beyond them.',
  },
  {
    file: 'tests/console/backfill.test.ts',
    why: 'It starts a stack and a browser, and sends earlier events to an endpoint.',
    caughtBy: [
      'tests/sql/api/preview_backfill/same.test.sql',
      'tests/sql/api/create_backfill/jobs.test.sql',
      'tests/console/form.test.ts',
    ],
    how: 'They have what the preview counts, what a job is, and the fields. Left are the dialogs ' +
      'and the progress.',
  },
  {
    file: 'tests/console/hosted.test.ts',
    why: 'It starts a stack, a login and a browser, in about half a minute.',
    caughtBy: ['tests/console/server.test.ts', 'tests/portal/token.test.ts'],
    how: 'server has the policy of the page, and token when a token is asked for. Left are the ' +
      'pages with the scopes of a user.',
  },
  {
    file: 'tests/console/messages.test.ts',
    why: 'It starts a stack and a browser, and opens the pages on messages.',
    caughtBy: ['tests/console/texts.test.ts', 'tests/e2e/messages.test.ts'],
    how: 'They have how texts of others are written, and the routes. Left are the views.',
  },
  {
    file: 'tests/console/numbers_and_timeline.test.ts',
    why: 'It starts a stack and a browser, and follows each number of the overview.',
    caughtBy: [
      'tests/sql/api/get_org_overview/lists.test.sql',
      'tests/console/timeline.test.ts',
    ],
    how: 'lists compares each number with its list in the database, and timeline has what is ' +
      'rebuilt of a request. Left are the links, and what a browser draws.',
  },
  {
    file: 'tests/console/views.test.ts',
    why: 'It starts a stack and a browser, and opens each view on five screens.',
    caughtBy: ['tests/console/server.test.ts', 'tests/console/texts.test.ts'],
    how: 'They have the policy of the page, and how it writes texts of others. Left are the views.',
  },
  {
    file: 'tests/portal/tasks.test.ts',
    why: 'It starts a stack and a browser, and does what a customer does, in about a minute.',
    caughtBy: ['tests/portal/react.test.ts', 'tests/portal/snippets.test.ts'],
    how: 'react opens the element in an app; e2e/api_portal and its neighbours have the routes ' +
      'that it calls. Left are the views.',
  },
  {
    file: 'tests/portal/long_list.test.ts',
    why: 'It starts a stack and a browser, and waits for three polls, in about half a minute.',
    caughtBy: ['tests/console/long_list.test.ts'],
    how: 'The console reads its lists by the same code. Left are the words and the button.',
  },
  {
    file: 'tests/portal/session.test.ts',
    why: 'It starts a stack and a browser, and waits until revoked tokens are refused.',
    caughtBy: ['tests/portal/react.test.ts', 'tests/portal/token.test.ts'],
    how:
      'token has when a token is asked for, without a browser. Left is what the page shows then.',
  },
  {
    file: 'tests/portal/views.test.ts',
    why: 'It starts a stack and a browser, and opens each view on five screens.',
    caughtBy: ['tests/portal/react.test.ts', 'tests/console/texts.test.ts'],
    how:
      'They have one view of the element, and how texts of others are written. Left are the views.',
  },
  {
    file: 'tests/console/open_all_day.test.ts',
    why: 'It lets three pages in a browser read 3,000 times, in 20 s of CPU time and more.',
    caughtBy: ['tests/console/server.test.ts', 'tests/portal/react.test.ts'],
    how: 'They have the answers that it reads, and the life of an element in a page. Left is ' +
      'all that grows.',
  },
  {
    file: 'tests/console/dead_letter_list.test.ts',
    why: 'It starts a stack and a browser, and works through lists, in about 18 s.',
    caughtBy: ['tests/console/form.test.ts', 'tests/sql/api/plans/console_lists.test.sql'],
    how: 'form has the fields of an endpoint, and the lists of the API have tests of their own. ' +
      'Left are the groups, the ticks and the span on the page.',
  },
]
