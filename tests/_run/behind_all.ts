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
    file: 'tests/package/contents.test.ts',
    why: 'It checks the types of a program against the packed declarations twice, in 30 s.',
    caughtBy: ['tests/package/installed.test.ts'],
    how: 'installed runs the programs of the page with the packed package, and Deno checks the ' +
      'types of one of them. Left are the list of its files, and types under tsc.',
  },
  {
    file: 'tests/package/upgrade.test.ts',
    why: 'It builds the command of two versions, which takes half a minute.',
    caughtBy: ['tests/upgrade/schema.test.ts', 'tests/package/command/upgrade.test.ts'],
    how:
      'schema applies the same migrations and compares the databases, and command/upgrade says ' +
      'which files the command writes. Left is what the packed command of the next version has.',
  },
  {
    file: 'tests/package/console_packed.test.ts',
    why: 'It builds the functions and the command, which takes 20 s.',
    caughtBy: ['tests/package/console.test.ts', 'tests/console/size.test.ts'],
    how:
      'console runs the same server, and size builds the same page. Left is that the package has ' +
      'the page, and that the server runs under Node.js.',
  },
  {
    file: 'tests/package/deploy.test.ts',
    why: 'It starts the Supabase CLI about 25 times, which takes more than a minute.',
    caughtBy: ['tests/package/check.test.ts', 'tests/package/init.test.ts'],
    how:
      'init writes what is deployed, and check runs the last step of a deployment. Left are the ' +
      'calls of the CLI, the order of the steps, and what a second run repeats.',
  },
  {
    file: 'tests/package/registry.test.ts',
    why: 'It starts a registry and a stack, builds every package, and deploys, in about a minute.',
    caughtBy: [
      'tests/package/init.test.ts',
      'tests/package/check.test.ts',
      'tests/package/command/without_config.test.ts',
      'tests/package/installed.test.ts',
    ],
    how:
      'They do the same steps with the packed files, each in a project of its own. Left are the ' +
      'names and versions in a registry, and the steps one after the other in one app.',
  },
  {
    file: 'tests/package/worker.test.ts',
    why: 'It builds three packages and starts the worker in five ways, in 30 s.',
    caughtBy: [
      'tests/functions/deliver/worker.test.ts',
      'tests/e2e/run_killed.test.ts',
      'tests/project/worker_build.test.ts',
    ],
    how:
      'They run the same worker from its sources and as one file, with the same flags. Left are ' +
      'the packages, and how the command starts the process.',
  },
  {
    file: 'tests/package/consume.test.ts',
    why: 'It builds a package and starts both brokers, in 40 s.',
    caughtBy: [
      'tests/consumer/process.test.ts',
      'tests/consumer/inbox.test.ts',
      'tests/package/consume/check.test.ts',
    ],
    how:
      'They have the attempts, the inbox and the options of the same consumer, and its brokers ' +
      'wait for --all too. Left are the package, and a handler that is a function of the program.',
  },
  {
    file: 'tests/package/listen.test.ts',
    why: 'It builds the command again and starts a stack of its own, in 25 s.',
    caughtBy: [
      'tests/package/command/listen/feed.test.ts',
      'tests/package/command/listen/follow.test.ts',
      'tests/package/command/listen/forward.test.ts',
    ],
    how: 'They have which events are found and when, what is sent and what is shown. ' +
      'Left are the options, the token, and how it runs under Node.js.',
  },
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
    file: 'tests/console/many_endpoints.test.ts',
    why: 'It makes 5,000 endpoints, and opens their list in a browser.',
    caughtBy: ['tests/console/server.test.ts', 'tests/sql/api/api_endpoints/plans.test.sql'],
    how: 'plans bounds what a page of the list reads. Left is what a browser draws.',
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
    file: 'tests/console/views.test.ts',
    why: 'It starts a stack and a browser, and opens each view on two screens.',
    caughtBy: ['tests/console/server.test.ts', 'tests/console/texts.test.ts'],
    how: 'They have the policy of the page, and how it writes texts of others. Left are the views.',
  },
  {
    file: 'tests/portal/tasks.test.ts',
    why: 'It starts a stack and a browser, and does what a customer does, in about half a minute.',
    caughtBy: ['tests/portal/react.test.ts', 'tests/portal/snippets.test.ts'],
    how: 'react opens the element in an app; e2e/api_portal and its neighbours have the routes ' +
      'that it calls. Left are the views.',
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
    why: 'It starts a stack and a browser, and opens each view on two screens.',
    caughtBy: ['tests/portal/react.test.ts', 'tests/console/texts.test.ts'],
    how:
      'They have one view of the element, and how texts of others are written. Left are the views.',
  },
  {
    file: 'tests/package/functions.test.ts',
    why: 'It bundles five functions and starts each under the older Deno, in 12 s of CPU time.',
    caughtBy: ['tests/package/init.test.ts', 'tests/functions/bundle.test.ts'],
    how: 'init delivers with two of the bundles. Left are the others, and the older Deno.',
  },
  {
    file: 'tests/package/bun.test.ts',
    why: 'It needs Bun, of 90 MB.',
    caughtBy: ['tests/package/installed.test.ts'],
    how: 'installed runs the same module in Node.js and Deno. Left is what Bun does otherwise.',
  },
  {
    file: 'tests/e2e/failover.test.ts',
    why: 'It starts two pairs of servers, and kills one of each under load, in 20 s.',
    caughtBy: ['tests/e2e/run_killed.test.ts', 'tests/functions/_shared/database/direct.test.ts'],
    how: 'run_killed loses leases and results, and direct connections. Left are two addresses, ' +
      'and what is lost with a server.',
  },
  {
    file: 'tests/e2e/restored.test.ts',
    why: 'It dumps and restores two databases, and starts a worker four times, in 40 s.',
    caughtBy: ['tests/sql/operations/decide_copy/decisions.test.sql'],
    how: 'It cancels what is pending in a copy. Left are a restored database, and the commands ' +
      'of the page about it.',
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
    caughtBy: ['tests/consumer/one_bad_letter.test.ts', 'tests/e2e/example_consumer.test.ts'],
    how:
      'one_bad_letter consumes from RabbitMQ into the same functions, and example_consumer takes ' +
      'what the stack has published. Left are Kafka and all in one piece.',
  },
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
    file: 'tests/upgrade/traffic.test.ts',
    why: 'It upgrades two databases while workers of two versions deliver, in about half a minute.',
    caughtBy: ['tests/upgrade/schema.test.ts', 'tests/e2e/versions.test.ts'],
    how:
      'schema upgrades a database without traffic and compares it with a new one, and versions ' +
      'runs functions and databases of different contracts. Left is what happens meanwhile: ' +
      'lost or repeated deliveries, and locks.',
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
    file: 'tests/e2e/moves.test.ts',
    why: 'It makes a standby, a dump and a template copy under a worker, in 12 s of CPU time.',
    caughtBy: ['tests/sql/engine/binding/rules.test.sql', 'tests/e2e/run_killed.test.ts'],
    how:
      'binding has the rules by which a database is bound again, and run_killed kills a worker that ' +
      'records. Left is a worker that goes on during a promotion or a restore.',
  },
  {
    file: 'tests/e2e/broker_stack.test.ts',
    why: 'It starts the stack, Kafka and RabbitMQ, in 11 s of CPU time.',
    caughtBy: ['tests/e2e/broker_kafka.test.ts', 'tests/e2e/broker_rabbitmq.test.ts'],
    how:
      'They send to each broker with the same senders. Left is one saga to both and to webhooks.',
  },
  {
    file: 'tests/e2e/run_limits.test.ts',
    why: 'It runs four workers and holds receivers back, in 10 s of CPU time.',
    caughtBy: ['tests/concurrency/limits.test.ts', 'tests/concurrency/claimers.test.ts'],
    how: 'They hold the same limits with sixteen claimers. Left is the way of real runs to them.',
  },
  {
    file: 'tests/e2e/incident.test.ts',
    why: 'It runs a Prometheus through an incident, in 10 s of CPU time.',
    caughtBy: [
      'tests/project/alerts.test.ts',
      'tests/e2e/alerts.test.ts',
      'tests/project/ops_dashboard.test.ts',
    ],
    how: 'alerts evaluates the rules with promtool, and ops_dashboard reads the queries. Left is ' +
      'whether Prometheus takes what the function metrics sends.',
  },
  {
    file: 'tests/e2e/message_killed.test.ts',
    why: 'It kills runs with a message and waits for their leases, in half a minute.',
    caughtBy: ['tests/e2e/run_killed.test.ts', 'tests/concurrency/held_messages.test.ts'],
    how:
      'run_killed kills runs with a webhook. What a lost attempt of a message means is in pgTAP ' +
      '(messages/judge). Left is the callback that comes after the death.',
  },
  {
    file: 'tests/e2e/job_timeouts.test.ts',
    why: 'It waits for jobs of pg_cron that delete 30,000 rows in several starts, for minutes.',
    caughtBy: ['tests/concurrency/stalls.test.ts', 'tests/concurrency/held_cleanup.test.ts'],
    how:
      'stalls and held_cleanup run the same jobs with a timeout. Left is pg_cron that starts them.',
  },
  {
    file: 'tests/e2e/callbacks_fuzz.test.ts',
    why: 'It signs random bodies, in 7 s of CPU time.',
    caughtBy: [
      'tests/e2e/callbacks.test.ts',
      'tests/functions/_shared/messages/callbacks/parse.test.ts',
    ],
    how: 'They have the structures that WhatsApp sends, and broken ones. Left is one that nobody ' +
      'has thought of.',
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
    file: 'tests/consumer/brokers.test.ts',
    why: 'It starts RabbitMQ and Kafka and kills the consumer, in 17 s of CPU time.',
    caughtBy: ['tests/consumer/one_bad_letter.test.ts', 'tests/consumer/inbox.test.ts'],
    how: 'one_bad_letter consumes from a real RabbitMQ. Left is Kafka, and a death in mid-batch.',
  },
  {
    file: 'tests/project/docs_copies.test.ts',
    why: 'It makes four copies of a database, in 6 s of CPU time.',
    caughtBy: ['tests/sql/operations/decide_copy/decisions.test.sql'],
    how:
      'decisions decides about a copy by the same calls. Left are the calls as the page has them.',
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
    caughtBy: ['tests/sql/engine/binding/rules.test.sql'],
    how: 'binding has the rules for a database of another identity. ' +
      'Left is what pg_upgrade itself changes.',
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
  {
    file: 'tests/e2e/copies.test.ts',
    why: 'It makes a dump, templates and a physical copy under runs, in 25 s of CPU time.',
    caughtBy: [
      'tests/sql/engine/binding/rules.test.sql',
      'tests/sql/operations/decide_copy/decisions.test.sql',
      'tests/functions/_shared/database/transports.test.ts',
    ],
    how: 'binding has the rules by which a database is told from its copy, and decisions what ' +
      'becomes of what is pending. Left are real copies, and kicks that reach the original.',
  },
  {
    file: 'tests/e2e/runbook.test.ts',
    why: 'It makes each incident of the runbook and mends it, in 15 s of CPU time.',
    caughtBy: [
      'tests/project/ops_queries.test.ts',
      'tests/project/ops_holds.test.ts',
      'tests/project/alerts.test.ts',
    ],
    how: 'They run the queries of the console kit and the rules of the alerts. Left is whether ' +
      'the command of the runbook mends what its query names.',
  },
  {
    file: 'tests/e2e/api_operations.test.ts',
    why: 'It makes a client from the description and calls every operation, in 12 s of CPU time.',
    caughtBy: ['tests/e2e/api_fuzz.test.ts', 'tests/e2e/api_clients.test.ts'],
    how: 'api_fuzz holds each response of every operation against the description, and ' +
      'api_clients calls what the page shows. Left is the generated client.',
  },
  {
    file: 'tests/e2e/delivery_worker.test.ts',
    why: 'It kills and stops workers under two runtimes and waits for their leases, in 19 s of ' +
      'CPU time.',
    caughtBy: [
      'tests/e2e/run_killed.test.ts',
      'tests/e2e/delivery_lost.test.ts',
      'tests/functions/deliver/worker.test.ts',
    ],
    how: 'run_killed kills a worker while it records, delivery_lost kills runs at their other ' +
      'moments, and worker starts and stops it under each runtime. Left are a lane of a ' +
      'killed worker, and long lanes.',
  },
  {
    file: 'tests/e2e/delivery_poison.test.ts',
    why: 'It waits until a delivery has killed its worker each time, in 10 s of CPU time.',
    caughtBy: ['tests/concurrency/poison.test.ts', 'tests/sql/engine/complete/lost_lease.test.sql'],
    how: 'poison has rows that end a call each time, and lost_lease counts the attempts of ' +
      'dead runs. Left is a real process that dies of its delivery.',
  },
  {
    file: 'tests/package/api_commands.test.ts',
    why: 'It runs the packed command some twenty times against a stack, in 26 s of CPU time.',
    caughtBy: [
      'tests/package/installed.test.ts',
      'tests/package/check.test.ts',
      'tests/e2e/api_clients.test.ts',
    ],
    how: 'installed publishes with the packed client, check runs the packed command against a ' +
      'stack, and api_clients calls the routes. Left are what the commands print, and their ' +
      'options.',
  },
  {
    file: 'tests/package/uninstall.test.ts',
    why: 'It installs, uninstalls and installs again by the packed command, in 16 s of CPU time.',
    caughtBy: ['tests/package/command/without_config.test.ts', 'tests/package/init.test.ts'],
    how: 'without_config takes our sections out of forty shapes of config.toml, and init ' +
      'installs. Left is the migration that removes all from a database.',
  },
  {
    file: 'tests/consumer/recovery.test.ts',
    why: 'It starts Kafka and RabbitMQ, and recovers dead letters of both, in 20 s of CPU time.',
    caughtBy: [
      'tests/consumer/one_bad_letter.test.ts',
      'tests/consumer/inbox.test.ts',
      'tests/sql/brokers/record_broker_replay/cases.test.sql',
    ],
    how: 'one_bad_letter makes a dead letter in RabbitMQ, and record_broker_replay records ' +
      'each kind of recovery. Left is dlq:replay with real brokers.',
  },
  {
    file: 'tests/console/open_all_day.test.ts',
    why: 'It lets a page in a browser read 2,000 times, in 15 s of CPU time and more.',
    caughtBy: ['tests/console/server.test.ts', 'tests/portal/react.test.ts'],
    how: 'They have the answers that it reads, and the life of an element in a page. Left is ' +
      'all that grows.',
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
    less: 'It plays 60 sequences instead of 2,000.',
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
    how: 'The query is the same text, and cli_stack runs both CLIs.',
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

const files = new Set(behindAll.map(({ file }) => file))

/** Whether only `--all`, or a word that selects it, runs the file. */
export function waitsForAll(file: string): boolean {
  return files.has(file)
}
