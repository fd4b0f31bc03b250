import type { Behind } from './behind.ts'

/** Of the tests of the packages and the consumer, those that only `task test --all` runs. */
export const packageBehind: readonly Behind[] = [
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
    file: 'tests/package/container.test.ts',
    why: 'It builds the worker and its package, and starts it in three ways, in 20 s.',
    caughtBy: ['tests/project/deploy_files.test.ts', 'tests/functions/deliver/worker.test.ts'],
    how: 'deploy_files compares the lines of the recipes with the code, and worker starts the ' +
      'same worker, which drains. Left is that the lines together start one as their user.',
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
    file: 'tests/consumer/stack.test.ts',
    why: 'It starts the stack, Kafka and RabbitMQ, and two consumers.',
    caughtBy: ['tests/consumer/one_bad_letter.test.ts', 'tests/e2e/example_consumer.test.ts'],
    how:
      'one_bad_letter consumes from RabbitMQ into the same functions, and example_consumer takes ' +
      'what the stack has published. Left are Kafka and all in one piece.',
  },
  {
    file: 'tests/consumer/brokers.test.ts',
    why: 'It starts RabbitMQ and Kafka and kills the consumer, in 17 s of CPU time.',
    caughtBy: ['tests/consumer/one_bad_letter.test.ts', 'tests/consumer/inbox.test.ts'],
    how: 'one_bad_letter consumes from a real RabbitMQ. Left is Kafka, and a death in mid-batch.',
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
    file: 'tests/package/into.test.ts',
    why: 'It starts RabbitMQ, three databases and the packed command twice, in half a minute.',
    caughtBy: ['tests/consumer/into/brokers.test.ts', 'tests/consumer/into/routes.test.ts'],
    how: 'brokers carries events by the same consumer from its sources. Left are the package, ' +
      'Node.js, and the statements of the page.',
  },
  {
    file: 'tests/package/spread_org.test.ts',
    why: 'It builds the command and moves endpoints between two databases, in 12 s.',
    caughtBy: ['tests/concurrency/org_spread.test.ts', 'tests/package/command/spread_org.test.ts'],
    how: 'They move endpoints by the same steps. Left are the packed command under Node.js, and ' +
      'the commands of the page.',
  },
  {
    file: 'tests/package/move_org.test.ts',
    why: 'It builds the command and moves an organisation between two databases, in 12 s.',
    caughtBy: ['tests/concurrency/org_move.test.ts', 'tests/concurrency/org_move_errors.test.ts'],
    how: 'They move organisations by the same steps. Left are the packed command under Node.js, ' +
      'and the commands of the page.',
  },
  {
    file: 'tests/consumer/into/killed.test.ts',
    why: 'It kills the consumer a dozen times amid its work, with both brokers, in 40 s.',
    caughtBy: ['tests/consumer/into/brokers.test.ts', 'tests/concurrency/inbox.test.ts'],
    how: 'brokers restarts the broker and takes databases away, and inbox has a message that ' +
      'comes twice. Left is a death at any other moment.',
  },
]
