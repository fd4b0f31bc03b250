import { commandStep } from './command_step.ts'
import { denoStep } from './deno_step.ts'
import { pgTapStep, sessionStep } from './pg_tap_step.ts'
import { edgeDeno } from './tools.ts'
import type { Step } from './step.ts'

/** Files that wait most of their time: for a minute of pg_cron, for leases to end, for a retry or a token. */
export const waitingFiles = [
  'tests/e2e/cron_jobs.test.ts',
  'tests/e2e/delivery_lost.test.ts',
  'tests/e2e/delivery_worker.test.ts',
  'tests/e2e/hostile_table.test.ts',
  'tests/e2e/job_timeouts.test.ts',
  'tests/e2e/message_killed.test.ts',
  'tests/e2e/postgres_net.test.ts',
  'tests/e2e/restored_in_time.test.ts',
  'tests/e2e/run_killed.test.ts',
  'tests/e2e/versions.test.ts',
  'tests/e2e/waking.test.ts',
  'tests/portal/session.test.ts',
  'tests/project/docs_first_webhook.test.ts',
  'tests/project/docs_testing.test.ts',
] as const

/** What the edge level of Deno does not run: the local stack needs the newer one. */
const needsNewerDeno = [
  'tests/functions/local',
  // They start a database or bundle with the stack's own code.
  'tests/functions/_shared/database/direct.test.ts',
  'tests/functions/_shared/database/fault.test.ts',
  'tests/functions/_shared/database/transports.test.ts',
  'tests/functions/bundle.test.ts',
  'tests/functions/deliver/worker.test.ts',
  // In Deno 2.1, node:tls checks no names; rustls does.
  'tests/functions/_shared/runtime/server_checks.test.ts',
] as const

/** What the edge level of Deno runs in the short run: what meets the network, crypto or streams of a runtime. */
const meetsRuntime = [
  'tests/functions/_shared/connect',
  'tests/functions/_shared/http',
  'tests/functions/_shared/http1',
  'tests/functions/_shared/runtime',
  'tests/functions/_shared/senders',
  'tests/functions/_shared/signing',
  'tests/functions/_shared/transport',
  'tests/functions/deliver',
  'tests/functions/metrics',
  'tests/functions/whatsapp',
] as const

/** What runs in a browser: its types are those of the DOM. */
const browserFolders = ['console/page', 'portal/element', 'portal/page']

/** All steps of `deno task test`, in order: the cheap and the telling ones come first. */
export const testSteps: readonly Step[] = [
  commandStep('ok', [
    [
      'check',
      '--quiet',
      'supabase',
      'functions',
      'consumer',
      'package',
      'console/main.ts',
      'portal/main.ts',
      'portal/catalogue',
      'tests',
    ],
    ['check', '--quiet', '--config', 'console/page/deno.json', ...browserFolders],
    ['fmt', '--check'],
    ['lint', '--quiet'],
  ]),
  denoStep({
    name: 'functions',
    folder: 'tests/functions',
    without: needsNewerDeno,
    parts: 4,
    leaks: true,
  }),
  // The drivers of the database leave timers behind when a connection is lost.
  denoStep({
    name: 'functions with the stack',
    folder: 'tests/functions',
    only: needsNewerDeno,
    parts: 1,
  }),
  denoStep({
    name: `functions under Deno ${edgeDeno}`,
    folder: 'tests/functions',
    without: needsNewerDeno,
    short: meetsRuntime,
    version: edgeDeno,
    parts: 1,
  }),
  commandStep('db:build', [[
    'run',
    '-A',
    '--cached-only',
    'supabase/local/db_build.ts',
    '--check',
  ]]),
  denoStep({ name: 'schema', folder: 'tests/sql' }),
  denoStep({ name: 'modules', folder: 'tests/modules' }),
  pgTapStep({ name: 'pgTAP', folder: 'tests/sql', parts: 6 }),
  sessionStep({
    name: 'pgTAP with other settings',
    folder: 'tests/sql',
    short: ['tests/sql/events', 'tests/sql/api', 'tests/sql/operations'],
  }),
  denoStep({ name: 'concurrency', folder: 'tests/concurrency' }),
  denoStep({ name: 'property', folder: 'tests/property' }),
  denoStep({ name: 'end to end', folder: 'tests/e2e', waits: waitingFiles }),
  denoStep({ name: 'upgrade', folder: 'tests/upgrade' }),
  denoStep({ name: 'first start', folder: 'tests/start' }),
  denoStep({ name: 'consumer', folder: 'tests/consumer' }),
  denoStep({ name: 'package', folder: 'tests/package' }),
  denoStep({
    name: `package under Deno ${edgeDeno}`,
    folder: 'tests/package/receive',
    version: edgeDeno,
    parts: 1,
  }),
  denoStep({ name: 'console', folder: 'tests/console' }),
  denoStep({ name: 'portal', folder: 'tests/portal', waits: waitingFiles }),
  denoStep({ name: 'project', folder: 'tests/project', waits: waitingFiles }),
]
