import { type Command, InvalidArgumentError, Option } from 'commander'
import process from 'node:process'
import { deadLetters } from '../dead_letters/dead_letters.ts'
import { deliveries, type DeliveriesOptions } from '../deliveries/deliveries.ts'
import { endpoints, type EndpointsOptions } from '../endpoints/endpoints.ts'
import { listen, type ListenOptions } from '../listen/listen.ts'
import { publish, type PublishOptions } from '../publish/publish.ts'
import { replay, type ReplayOptions } from '../replay/replay.ts'
import { tail, type TailOptions } from '../tail/tail.ts'
import { ownTerminal } from '../terminal.ts'
import { trigger, type TriggerOptions } from '../trigger/trigger.ts'

/** Reads a whole number from 1 to `most`. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (Number.isInteger(value) && value >= 1 && value <= most) return value
    throw new InvalidArgumentError(`It takes whole numbers from 1 to ${most}.`)
  }
}

/** Adds what an option has, so that it may be given several times. */
const listOf = (text: string, earlier: string[]): string[] => [
  ...earlier,
  ...text.split(',').map((part) => part.trim()).filter((part) => part !== ''),
]

/** Adds the options of every command that calls the API, and its examples. */
function calling(
  command: Command,
  examples: readonly string[],
  { undecided = false, one = '1 the API refused or did not respond' } = {},
): Command {
  return command
    .option('--project <folder>', 'the folder that has supabase/', '.')
    .option('--project-ref <ref>', 'the project at https://<ref>.supabase.co')
    .option('--url <url>', 'the URL of any other project (default: SUPABASE_URL)')
    .option('--function <name>', 'the name of the function api (default: that of the project)')
    .option('--org <id>', 'the organisation (default: that of the token, or default)')
    .option('--json', 'print JSON, one object for each line', false)
    .addHelpText(
      'after',
      `
The secret key of the project is read from SUPABASE_SECRET_KEY. With OUTHOOK_TOKEN, the command uses
the token of a user or a portal instead, and its scopes.

Examples:
${examples.map((line) => `  outhook ${line}`).join('\n')}

Exit codes: 0 done, ${one}, 2 wrong usage${undecided ? ', 3 not confirmed' : ''}.`,
    )
}

/** Adds the commands that call the API. */
export function registerApiCommands(program: Command): void {
  calling(program.command('publish <type>'), [
    'publish order.paid --data \'{"id": 1, "total": 49.9}\'',
    'publish order.paid --data @order.json --idempotency-key order-1-paid',
  ])
    .description('Publish an event')
    .requiredOption('--data <json>', 'the data: JSON, @file, or @- for standard input')
    .option('--idempotency-key <key>', 'a second event with this key is not published')
    .option('--partition-key <key>', 'the order for ordered endpoints')
    .action(async (type: string, options: PublishOptions) => {
      process.exitCode = await publish(type, options, ownTerminal())
    })

  calling(program.command('trigger <type>'), [
    'trigger order.paid',
    'trigger order.paid --data \'{"id": 7}\' --dry-run',
  ])
    .description('Publish a sample event of a type of the event catalogue')
    .option('--data <json>', 'members that replace those of the sample: JSON, @file, or @-')
    .option('--dry-run', 'print the data and publish nothing', false)
    .action(async (type: string, options: TriggerOptions) => {
      process.exitCode = await trigger(type, options, ownTerminal())
    })

  calling(program.command('endpoints'), ['endpoints', 'endpoints --org shop-7 --json'])
    .description('List endpoints')
    .option('--limit <number>', 'the most endpoints', upTo(10_000), 50)
    .action(async (options: EndpointsOptions) => {
      process.exitCode = await endpoints(options, ownTerminal())
    })

  filtered(calling(program.command('deliveries'), [
    'deliveries --status retrying',
    'deliveries --type order.paid --limit 5',
  ]))
    .description('List deliveries, the newest first')
    .action(async (options: DeliveriesOptions) => {
      process.exitCode = await deliveries(options, ownTerminal())
    })

  filtered(calling(program.command('dead-letters'), [
    'dead-letters --status open',
    'dead-letters --endpoint <id> --json',
  ]))
    .description('List dead letters, the newest first')
    .action(async (options: DeliveriesOptions) => {
      process.exitCode = await deadLetters(options, ownTerminal())
    })

  calling(program.command('replay [id]'), [
    'replay <event id>.<endpoint id>',
    'replay <dead letter id>',
    'replay --all --type order.paid           # shows the number, and asks',
    'replay --all --type order.paid --yes',
  ], { undecided: true })
    .description('Replay a delivery, a dead letter, or all dead letters that fit')
    .option('--all', 'all dead letters, by a job', false)
    .option('--endpoint <id>', 'with --all: only those of this endpoint')
    .option('--type <type>', 'with --all: only those of this event type')
    .option('--yes', 'with --all: start the job without a confirmation', false)
    .action(async (id: string | undefined, options: ReplayOptions) => {
      process.exitCode = await replay(id, options, ownTerminal())
    })

  calling(program.command('tail'), ['tail', 'tail --type order.paid --since 10 --json'])
    .description('Print each attempt of new events as it happens')
    .option('--endpoint <id>', 'only those of this endpoint')
    .option('--type <type>', 'only those of this event type')
    .option('--since <minutes>', 'begin with events of the last minutes', upTo(1_440), 0)
    .option('--count <number>', 'end after so many attempts', upTo(1_000_000))
    .action(async (options: TailOptions) => {
      process.exitCode = await tail(options, ownTerminal())
    })

  calling(program.command('listen'), [
    'listen --forward http://127.0.0.1:3000/webhooks',
    "listen --type 'order.*' --since 10 --json",
    'listen --forward http://127.0.0.1:3000/webhooks --event <event id>',
  ], {
    one:
      '1 the API refused or did not respond, or the receiver did not accept the event of --event',
  })
    .description('Show events as they are published, and send them to a receiver on this machine')
    .option('--forward <url>', 'the URL of the receiver; without it, events are only shown')
    .option(
      '--type <types>',
      'only those of these types, separated by commas: order.paid, order.*',
      listOf,
      [],
    )
    .option('--since <minutes>', 'begin with events of the last minutes', upTo(1_440), 0)
    .option('--count <number>', 'end after so many events', upTo(1_000_000))
    .option('--event <id>', 'only this event, also an earlier one')
    .addOption(
      new Option('--payload <form>', 'what the body contains').choices(['envelope', 'data'])
        .default('envelope'),
    )
    .action(async (options: ListenOptions) => {
      process.exitCode = await listen(options, ownTerminal())
    })
}

/** Adds the options that select deliveries. */
function filtered(command: Command): Command {
  return command
    .option('--status <status>', 'only those with this status')
    .option('--endpoint <id>', 'only those of this endpoint')
    .option('--type <type>', 'only those of this event type')
    .option('--limit <number>', 'the most items', upTo(10_000), 50)
}
