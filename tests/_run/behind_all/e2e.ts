import type { Behind } from './behind.ts'

/** Of the tests of the stack, its start and upgrades, those that only `task test --all` runs. */
export const e2eBehind: readonly Behind[] = [
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
    file: 'tests/upgrade/traffic.test.ts',
    why: 'It upgrades two databases while workers of two versions deliver, in about half a minute.',
    caughtBy: ['tests/upgrade/schema.test.ts', 'tests/e2e/versions.test.ts'],
    how:
      'schema upgrades a database without traffic and compares it with a new one, and versions ' +
      'runs functions and databases of different contracts. Left is what happens meanwhile: ' +
      'lost or repeated deliveries, and locks.',
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
    caughtBy: ['tests/e2e/cli_stack.test.ts', 'tests/modules/check.test.ts'],
    how:
      'cli_stack pushes the migrations with the newer CLI and asks both what is applied, and check ' +
      'has the errors and warnings of plpgsql_check, which `db lint` asks for. Left are the ' +
      'findings of the advisors.',
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
    why: 'It makes nine first starts, most of them with an empty cache.',
    caughtBy: ['tests/start/failures.test.ts', 'tests/functions/local/failures.test.ts'],
    how:
      'They read the same causes from their texts and start what fails. Left is whether a real ' +
      'disk, proxy or file system gives these texts.',
  },
  {
    file: 'tests/start/other_user.test.ts',
    why: 'It needs root, and makes two clones of the project for another user.',
    caughtBy: ['tests/functions/local/failures.test.ts'],
    how: 'failures reads the same causes from their texts. Left is whether a user without rights ' +
      'gets these texts.',
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
    file: 'tests/e2e/cron_jobs.test.ts',
    why: 'It waits for pg_cron to miss a job, which takes a minute on pg_cron 1.4.',
    caughtBy: ['tests/sql/time/tick/problem.test.sql', 'tests/e2e/stack_start.test.ts'],
    how:
      'problem tells a tick that does not run, and stack_start needs one. Left is the job list ' +
      'of an idle pg_cron after a large transaction.',
  },
]
