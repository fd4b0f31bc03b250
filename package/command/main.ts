/** The command `outhook`. */

import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import {
  readAssets,
  readConfigureSql,
  readIndex,
  readMigrateSql,
  readRemovalSql,
  readUpgrade,
} from './assets.ts'
import { registerApiCommands } from './api/register.ts'
import { across, type AcrossOptions, type Question, questions } from './across/across.ts'
import { check, type CheckOptions } from './check/check.ts'
import { completionScript, type Shell, shells } from './completion/completion.ts'
import type { IntoFlags } from '../consume/into.ts'
import { type ConsoleOptions, showConsole } from './console/console.ts'
import { readConsole } from './console/files.ts'
import { consume } from './consume/consume.ts'
import { deploy, type DeployOptions } from './deploy/deploy.ts'
import { init, type InitOptions } from './init/init.ts'
import { migrateFrom, type MigrateOptions } from './migrate_from/migrate_from.ts'
import { type MoveOrgOptions, runMoveOrg } from './move_org/move_org.ts'
import { runSpreadOrg, type SpreadOrgOptions } from './spread_org/spread_org.ts'
import { status, type StatusOptions } from './status/status.ts'
import { uninstall, type UninstallOptions } from './uninstall/uninstall.ts'
import { upgrade, type UpgradeOptions } from './upgrade/upgrade.ts'
import { endWithReader, exitCodes, ownTerminal } from './terminal.ts'
import { worker, type WorkerOptions } from './worker/worker.ts'
import { workers, type WorkersOptions } from './workers/workers.ts'

const folder = join(dirname(fileURLToPath(import.meta.url)), 'assets')
const list = (text: string): string[] => text.split(',').filter((name) => name !== '')

function seconds(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= 600) return value
  throw new InvalidArgumentError('It takes whole seconds from 1 to 600.')
}

function milliseconds(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= 60_000) return value
  throw new InvalidArgumentError('It takes whole milliseconds from 1 to 60000.')
}

function batchSize(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= 1_000) return value
  throw new InvalidArgumentError('It takes a whole number from 1 to 1000.')
}

function rowLimit(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= 10_000) return value
  throw new InvalidArgumentError('It takes a whole number from 1 to 10000.')
}

function port(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= 65_535) return value
  throw new InvalidArgumentError('It takes a number from 0 to 65535.')
}

const program = new Command('outhook')
  .description('Adds Outhook, a transactional outbox, to a Supabase project, and works with it')
  .version(readIndex(folder).version)
  .exitOverride()
  .showHelpAfterError('(--help after the command shows its options)')

program.command('init')
  .description('Add the migrations, the functions and their configuration to a project')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--modules <names>', 'modules besides the core, separated by commas', list)
  .option('--functions <names>', 'functions, separated by commas', list)
  .option('--prefix <text>', 'the start of the names of the functions (default: outhook)')
  .option('--yes', 'write without a confirmation', false)
  .option('--json', 'print the plan as JSON, and write only with --yes', false)
  .option('--force', 'also change files that have uncommitted changes', false)
  .addHelpText(
    'after',
    `
Examples:
  outhook init
  outhook init --modules api,inbox --yes
  outhook init --json                      # shows the plan, writes nothing

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not confirmed.`,
  )
  .action(async (options: InitOptions) => {
    process.exitCode = await init(readAssets(folder), options, ownTerminal())
  })

program.command('check')
  .description('Check an installed project, and name a remedy for each problem')
  .option('--project <folder>', 'the folder that has supabase/, whose files are checked too', '.')
  .option('--project-ref <ref>', 'the project at https://<ref>.supabase.co')
  .option('--url <url>', 'the URL of any other project (default: SUPABASE_URL)')
  .option('--no-test', 'send no test event')
  .option('--timeout <seconds>', 'how long to wait for the test event', seconds, 30)
  .option('--json', 'print the findings as JSON', false)
  .option('--report <file>', 'also write the findings and facts to a file, without secrets')
  .addHelpText(
    'after',
    `
The secret key of the project is read from SUPABASE_SECRET_KEY. The test event goes to the function
deliver of the project and to no endpoint of yours.

Examples:
  outhook check --project-ref abcdefghijklmnopqrst
  outhook check --url http://127.0.0.1:54321 --no-test
  outhook check --json --report outhook-report.json

Exit codes: 0 no errors, 1 failed, 2 wrong usage, 5 errors were found.`,
  )
  .action(async (options: CheckOptions) => {
    const assets = { ...readAssets(folder), upgrades: readUpgrade(folder)?.migrations ?? [] }
    process.exitCode = await check(assets, options, ownTerminal())
  })

program.command('status')
  .description('Print what a project has: versions, modules, functions and the queue')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--project-ref <ref>', 'the project at https://<ref>.supabase.co')
  .option('--url <url>', 'the URL of any other project (default: SUPABASE_URL)')
  .option('--json', 'print the status as JSON', false)
  .addHelpText(
    'after',
    `
The secret key of the project is read from SUPABASE_SECRET_KEY.

Examples:
  outhook status --project-ref abcdefghijklmnopqrst
  outhook status --json

Exit codes: 0 done, 1 the database cannot be read, 2 wrong usage.`,
  )
  .action(async (options: StatusOptions) => {
    process.exitCode = await status(options, ownTerminal())
  })

program.command('workers')
  .description('List the workers of all hosts: version, load, and whether each is live')
  .option('--project-ref <ref>', 'the project at https://<ref>.supabase.co')
  .option('--url <url>', 'the URL of any other project (default: SUPABASE_URL)')
  .option('--json', 'print JSON', false)
  .addHelpText(
    'after',
    `
The secret key of the project is read from SUPABASE_SECRET_KEY. A live worker gets deliveries, a draining
one finishes those in flight, and a silent one has ended without saying so or cannot reach the database.

Examples:
  outhook workers --project-ref abcdefghijklmnopqrst
  outhook workers --json

Exit codes: 0 done, 1 the database cannot be read, 2 wrong usage.`,
  )
  .action(async (options: WorkersOptions) => {
    process.exitCode = await workers(options, ownTerminal())
  })

program.command('deploy')
  .description('Deploy to a hosted project: migrations, schema, functions, secret, URL, then check')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--project-ref <ref>', 'the project on the platform')
  .option('--db-url <url>', 'the connection string of the database, if the CLI cannot find it')
  .option('--url <url>', 'the URL of the project (default: https://<ref>.supabase.co)')
  .option('--supabase <program>', 'the Supabase CLI (default: that of the project, or of PATH)')
  .option('--dry-run', 'print the commands and change nothing', false)
  .option('--yes', 'deploy without a confirmation', false)
  .option('--json', 'print the findings of the check as JSON', false)
  .addHelpText(
    'after',
    `
It uses the login of the Supabase CLI, or SUPABASE_ACCESS_TOKEN. With this token it also exposes the
schema. OUTHOOK_WORKER_SECRET sets the secret, which is otherwise created. After an error, run it
again: it repeats no migration and keeps a secret that works.

Examples:
  outhook deploy --project-ref abcdefghijklmnopqrst --dry-run
  outhook deploy --project-ref abcdefghijklmnopqrst --yes

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a person must do a step, 5 errors were found.`,
  )
  .action(async (options: DeployOptions) => {
    const assets = {
      ...readAssets(folder),
      configureSql: readConfigureSql(folder),
      upgrades: readUpgrade(folder)?.migrations ?? [],
    }
    process.exitCode = await deploy(assets, options, ownTerminal())
  })

program.command('upgrade')
  .description('Upgrade the migrations and functions of a project from the version before')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--yes', 'write without a confirmation', false)
  .option('--json', 'print the plan as JSON, and write only with --yes', false)
  .option('--force', 'also change files that have uncommitted changes', false)
  .addHelpText(
    'after',
    `
It adds a migration for each module and replaces the files of the functions. The database and the
platform are changed when you deploy.

Examples:
  outhook upgrade --json                   # shows the plan, writes nothing
  outhook upgrade --yes

Exit codes: 0 done, 1 failed or another version comes first, 2 wrong usage, 3 not confirmed.`,
  )
  .action(async (options: UpgradeOptions) => {
    const assets = { ...readAssets(folder), upgrade: readUpgrade(folder) }
    process.exitCode = await upgrade(assets, options, ownTerminal())
  })

program.command('uninstall')
  .description('Remove Outhook from a project, by two more migrations')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--discard', 'drop also open deliveries, and what objects of yours need', false)
  .option('--yes', 'write without a confirmation', false)
  .option('--json', 'print the plan as JSON, and write only with --yes', false)
  .option('--force', 'also change files that have uncommitted changes', false)
  .addHelpText(
    'after',
    `
It changes files alone. The data is deleted when you push the migrations.

Examples:
  outhook uninstall --json                 # shows the plan, writes nothing
  outhook uninstall --yes

Exit codes: 0 done, 1 failed or lines are left to remove by hand, 2 wrong usage, 3 not confirmed.`,
  )
  .action(async (options: UninstallOptions) => {
    const assets = { ...readAssets(folder), removalSql: readRemovalSql(folder) }
    process.exitCode = await uninstall(assets, options, ownTerminal())
  })

program.command('migrate-from')
  .description('Replace the Database Webhooks of a project by watched tables and endpoints')
  .addArgument(new Argument('<what>', 'what is replaced').choices(['database-webhooks']))
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--project-ref <ref>', 'the project on the platform')
  .option('--db-url <url>', 'the connection string of the database, if the CLI cannot find it')
  .option('--supabase <program>', 'the Supabase CLI (default: that of the project, or of PATH)')
  .option('--tables <names>', 'only these tables, separated by commas', list)
  .option('--org <id>', 'the organisation of the endpoints', 'default')
  .option('--lock-timeout <ms>', 'how long to wait for the lock on a table', milliseconds, 2000)
  .option('--undo', 'return to the webhooks that this command has replaced', false)
  .option('--finish', 'drop the disabled triggers of the webhooks that were replaced', false)
  .option('--dry-run', 'show the plan and change nothing', false)
  .option('--yes', 'change the tables without a confirmation', false)
  .option('--json', 'print the plan as JSON, and change something only with --yes', false)
  .addHelpText(
    'after',
    `
Each table is changed in one transaction. It locks the table: writes wait for milliseconds, and the
change waits at most the lock timeout for each lock. Each row is
sent once, by the webhook or by the endpoint. No values of headers and no paths of URLs are printed.

Examples:
  outhook migrate-from database-webhooks --project-ref abcdefghijklmnopqrst --dry-run
  outhook migrate-from database-webhooks --project-ref abcdefghijklmnopqrst --tables orders
  outhook migrate-from database-webhooks --db-url postgresql://postgres:postgres@127.0.0.1:54322/postgres

Exit codes: 0 done, 1 failed or a table was not changed, 2 wrong usage, 3 not confirmed.`,
  )
  .action(async (_what: string, options: MigrateOptions) => {
    process.exitCode = await migrateFrom(readMigrateSql(folder), options, ownTerminal())
  })

program.command('move-org')
  .description('Move an organisation to another project, with its open deliveries and their order')
  .argument('<org>', 'the organisation')
  .requiredOption('--from <name>', 'the name of the source, which publishers see in errors')
  .requiredOption('--to <name>', 'the name of the target, which publishers see in errors')
  .option('--wait <seconds>', 'how long to wait for what is in flight', seconds, 120)
  .option('--undo', 'take a move back that has not reached the target', false)
  .option('--finish', 'at the end delete what the source still has of the organisation', false)
  .option('--dry-run', 'say what prevents the move, and change nothing', false)
  .option('--yes', 'move without a confirmation', false)
  .addHelpText(
    'after',
    `
OUTHOOK_FROM_DB_URL and OUTHOOK_TO_DB_URL have the connection strings of the two databases, as the
owner of the schema outbox (postgres). After an error or Ctrl-C, run the same command again: it
continues. Signing secrets pass from one database to the other, and are neither printed nor stored
in a file.

Examples:
  outhook move-org org-123 --from eu-1 --to eu-2 --dry-run
  outhook move-org org-123 --from eu-1 --to eu-2 --yes
  outhook move-org org-123 --from eu-1 --to eu-2 --undo --yes
  outhook move-org org-123 --from eu-1 --to eu-2 --finish --yes

Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 not confirmed.`,
  )
  .action(async (org: string, options: MoveOrgOptions) => {
    process.exitCode = await runMoveOrg(org, options, process.env, ownTerminal())
  })

program.command('spread-org')
  .description('Move each endpoint of an organisation to one of several databases, by its hash')
  .argument('<org>', 'the organisation, which has a list of databases in the routes')
  .option(
    '--database <name>',
    'a name whose connection string is in OUTHOOK_INTO_<NAME>, or <name>=<url>; repeat it',
    (text: string, before: string[]) => [...before, text],
    [],
  )
  .option('--databases <file>', 'JSON with the connection string of each name')
  .requiredOption('--routes <file>', 'the routes of outhook consume, which name these databases')
  .option(
    '--empty <name>',
    'one of these databases that keeps no endpoint of the organisation; repeat it',
    (text: string, before: string[]) => [...before, text],
    [],
  )
  .option('--wait <seconds>', 'how long to wait until databases have the same events', seconds, 120)
  .option('--dry-run', 'show what would move and what it would wait for, and change nothing', false)
  .option('--yes', 'move without a confirmation', false)
  .addHelpText(
    'after',
    `
Give exactly the databases that the routes name for the organisation, also those of --empty, as the owner
of the schema outbox (postgres). All processes of outhook consume have to run with the same file. An endpoint
moves with its id, secrets, headers, event types and filters. One with open deliveries or dead letters stays
where it is, and its events are delivered there: run the command again later. After an error or Ctrl-C, run
it again, too. Signing secrets pass from one database to the other, and are neither printed nor stored in a
file.

Examples:
  outhook spread-org org-1 --routes routes.json --database eu-1 --database eu-2 --dry-run
  outhook spread-org org-1 --routes routes.json --database eu-1 --database eu-2 --yes
  outhook spread-org org-1 --routes routes.json --database eu-1 --database eu-2 --empty eu-2 --yes

Exit codes: 0 all are where they belong, 1 failed or refused, 2 wrong usage, 3 not confirmed, 5 some stay.`,
  )
  .action(async (org: string, options: SpreadOrgOptions) => {
    process.exitCode = await runSpreadOrg(org, options, {
      env: process.env,
      readFile: (path) => readFile(path, 'utf8'),
      terminal: ownTerminal(),
    })
  })

program.command('across')
  .description('Read the health, the dead letters or an event of several databases at once')
  .addArgument(new Argument('<what>', 'what is read').choices(questions))
  .argument('[text]', 'with search: the id of an event, a correlation id or an idempotency key')
  .option(
    '--database <name>',
    'a name whose connection string is in OUTHOOK_INTO_<NAME>, or <name>=<url>; repeat it',
    (text: string, before: string[]) => [...before, text],
    [],
  )
  .option('--databases <file>', 'JSON with the connection string of each name')
  .option('--org <id>', 'only this organisation')
  .option('--status <status>', 'dead letters with this status, such as open')
  .option('--limit <number>', 'the most dead letters, or events of each database', rowLimit, 50)
  .option('--timeout <seconds>', 'how long to wait for each database', seconds, 15)
  .option('--json', 'print JSON', false)
  .addHelpText(
    'after',
    `
All databases are asked at the same time. If one does not answer, what the others have is printed, and
its name. Nothing is changed. Other users of the machine can see the arguments of a command: set
connection strings with passwords in variables or in a file.

Examples:
  outhook across health --database eu-1 --database eu-2
  outhook across dead-letters --databases databases.json --status open
  outhook across search <event id> --databases databases.json
  outhook across search order-1-paid --org org-7 --databases databases.json --json

Exit codes: 0 done, 1 a database did not answer, 2 wrong usage, 5 health has found an error.`,
  )
  .action(async (what: Question, text: string | undefined, options: AcrossOptions) => {
    process.exitCode = await across(what, text, options, {
      version: readIndex(folder).version,
      env: process.env,
      readFile: (path) => readFile(path, 'utf8'),
      terminal: ownTerminal(),
    })
  })

program.command('console')
  .description('Show events, endpoints and dead letters in the browser, and act on them')
  .option('--project <folder>', 'the folder that has supabase/', '.')
  .option('--project-ref <ref>', 'the project at https://<ref>.supabase.co')
  .option('--url <url>', 'the URL of any other project (default: SUPABASE_URL)')
  .option('--function <name>', 'the name of the function api (default: that of the project)')
  .option('--port <number>', 'the port of 127.0.0.1; 0 takes any free one', port, 54380)
  .option('--no-open', 'do not open the browser')
  .addHelpText(
    'after',
    `
The secret key of the project is read from SUPABASE_SECRET_KEY. It stays in this process. The link
works once: press Enter for a new one. Ctrl-C ends the console.

Examples:
  outhook console --project-ref abcdefghijklmnopqrst
  outhook console --url http://127.0.0.1:54321 --port 0

Exit codes: 0 done, 1 failed, 2 wrong usage.`,
  )
  .action(async (options: ConsoleOptions) => {
    process.exitCode = await showConsole(
      readConsole(join(folder, 'console')),
      options,
      ownTerminal(),
    )
  })

registerApiCommands(program)

program.command('worker')
  .description('Deliver from this machine, until SIGTERM or Ctrl-C')
  .option('--db-url <url>', 'the connection string of the database (default: OUTHOOK_DB_URL)')
  .option(
    '--health-port <number>',
    'the port for GET /ready and GET /live (default: OUTHOOK_HEALTH_PORT, or none)',
    port,
  )
  .addHelpText(
    'after',
    `
It does the same as the function deliver, and sets the memory flags of its process. After SIGTERM it
finishes the requests in flight. OUTHOOK_PROJECT names the project, unless the connection string is one
of Supabase. Other users of the machine can see the arguments of a command: with a password, set
OUTHOOK_DB_URL instead.

Examples:
  OUTHOOK_DB_URL=postgresql://… OUTHOOK_PROJECT=https://<ref>.supabase.co outhook worker

Exit codes: 0 stopped by a signal, 1 failed, 2 a variable is missing or not valid.`,
  )
  .action(async (options: WorkerOptions) => {
    process.exitCode = await worker(join(folder, '../worker/program.js'), options, process.env)
  })

program.command('consume')
  .description('Publish the events of a broker in the databases of their organisations, each once')
  .option('--queue <name>', 'a RabbitMQ queue, with its broker in OUTHOOK_RABBITMQ_URL')
  .option('--topic <name>', 'or a Kafka topic, with its brokers in OUTHOOK_KAFKA_BROKERS')
  .option(
    '--into <database>',
    'a name whose connection string is in OUTHOOK_INTO_<NAME>, or <name>=<url>; repeat it',
    (text: string, before: string[]) => [...before, text],
    [],
  )
  .option('--routes <file>', 'JSON with the organisations that have databases of choice')
  .option('--consumer <name>', 'the name in the inbox of each database', 'into')
  .option('--dlq <name>', 'the queue or topic of dead letters (default: the source with .dlq)')
  .option('--batch <number>', 'events in one transaction', batchSize, 100)
  .option('--json', 'print the totals at the end as JSON', false)
  .addHelpText(
    'after',
    `
An endpoint of kind rabbitmq or kafka of one database publishes the events. Each goes into the databases
of its organisation: those of --routes, or one by a hash of the organisation. A database that is
unavailable keeps its own events waiting, and no others. SIGTERM ends it after the transactions in
flight. The log goes to standard error. Other users of the machine can see the arguments of a command:
set connection strings with passwords in variables.

Examples:
  outhook consume --queue outhook --into eu-1 --into eu-2
  outhook consume --topic outhook --into eu-1 --into eu-2 --routes routes.json --json

Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.`,
  )
  .action(async (options: IntoFlags) => {
    process.exitCode = await consume(join(folder, '../worker/into.js'), options, ownTerminal())
  })

program.command('completion')
  .description('Print a script that completes commands and options in a shell')
  .addArgument(new Argument('<shell>', 'the shell').choices(shells))
  .addHelpText(
    'after',
    `
Examples:
  source <(outhook completion bash)        # in ~/.bashrc
  source <(outhook completion zsh)         # in ~/.zshrc, after compinit
  outhook completion fish | source         # in ~/.config/fish/config.fish`,
  )
  .action((shell: Shell) => {
    const commands = program.commands.map((command) => ({
      name: command.name(),
      description: command.description(),
      options: command.options.flatMap(({ long, description }) =>
        long === undefined || long === null ? [] : [[long, description] as const]
      ),
    }))
    ownTerminal().print(completionScript(shell, commands))
  })

for (const stream of [process.stdout, process.stderr]) {
  endWithReader(stream, (code) => process.exit(code))
}

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // Help and the version are no errors.
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage
}
