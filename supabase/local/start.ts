/** `deno task start`: the stack with a receiver, and the delivery of a first event. */

import { setTimeout as delay } from 'node:timers/promises'
import { printFailure, runCommand, type Values } from './command.ts'
import { SetupError } from './errors.ts'
import type { FunctionFailure } from './functions/mod.ts'
import { abortable, aborted, interruption } from './interrupted.ts'
import { print } from './print.ts'
import { type Stack, startStack } from './stack.ts'
import { stackFlags, stackFlagsHelp, stackOptionsOf } from './stack_flags.ts'
import { type DemoEndpoint, makeEndpoint, removeEndpoints } from './start/endpoint.ts'
import { type Receiver, startReceiver } from './start/receiver.ts'
import { showOrder } from './start/order.ts'
import { asText, verify } from './start/show.ts'
import { summary } from './summary.ts'

const flags = { ...stackFlags, once: { type: 'boolean', default: false } } as const

const help =
  `Run the stack with a small receiver, publish a first event, execute a first saga and show what
arrives.

  npx -y deno@2.9.6 task start [--once] [--fresh] [--free-ports] [--data-dir <folder>]

  --once               stop after the first event and a first saga: exit code 0 if all arrived
                       and the signature is valid
${stackFlagsHelp}

Without --once it stays until Ctrl-C and shows what else arrives.`

/** How long an event may take; normally it arrives within a second. */
const PATIENCE_MS = 60_000

/** How long a failed start waits for the stop of the stack, normally less than a second. */
const STOP_MS = 5_000

/** The interval of checks for a reason why the event cannot arrive. */
const OBSTACLE_EVERY_MS = 1_000

async function run(values: Values<typeof flags>): Promise<number> {
  const signal = interruption()
  await using started = new AsyncDisposableStack()
  const stack = await startStack({ ...stackOptionsOf(values), signal })
  started.defer(() => stack.stop())

  let isFirstShown = false
  const receiver = startReceiver((arrival) => {
    if (isFirstShown) print(`\narrived:\n\n${asText(arrival)}`)
  })
  started.defer(() => receiver.stop())
  started.defer(() => removeEndpoints(stack))
  try {
    await abortable(showAll(stack, receiver), signal)
  } catch (error) {
    if (!printFailure(error)) throw error
    // What still runs then ends after this process, because it has a pipe from it.
    setTimeout(() => Deno.exit(1), STOP_MS)
    // No further start of a function while the rest of the stack stops.
    await stack.functions.stop()
    return 1
  }
  isFirstShown = true
  if (values.once) return 0

  print(await summary(stack))
  print(nextSteps(receiver))
  await Promise.race([aborted(signal), stack.databaseEnded])
  print('\nstopping')
  return 0
}

/** Shows a first event and a first saga; ends early if a function does not start. */
async function showAll(stack: Stack, receiver: Receiver): Promise<void> {
  const failed = stack.functions.failed.then((failure) => {
    throw new SetupError(failureText(failure))
  })
  await Promise.race([stack.functions.up(), failed])
  await removeEndpoints(stack)
  const endpoint = await makeEndpoint(stack, receiver.url)
  await Promise.race([
    showFirstEvent(stack, receiver, endpoint)
      .then(() => showOrder(stack, receiver, AbortSignal.timeout(PATIENCE_MS))),
    failed,
  ])
}

function failureText({ name, starts, reason }: FunctionFailure): string {
  return `The function ${name} does not start (${starts} attempts): ${reason}`
}

async function showFirstEvent(
  stack: Stack,
  receiver: Receiver,
  endpoint: DemoEndpoint,
): Promise<void> {
  const script = await readScript('first_event.sql')
  print(`\npublishing, in psql:\n\n${script.trimEnd().replace(/^/gm, '  ')}\n`)
  const publishedAt = performance.now()
  const { code, stdout: eventId, stderr } = await stack.psql(script)
  if (code !== 0) throw new SetupError(`Cannot publish: ${stderr}`)

  const over = new AbortController()
  const arrival = await Promise.race([
    receiver.arrival(eventId),
    obstacle(stack, { eventId, endpoint, over: over.signal }),
  ])
  over.abort()
  if (typeof arrival === 'string') {
    const rows = await attempts(stack, 'failures.sql', { eventId, endpoint })
    throw new SetupError(
      `Event ${eventId} did not arrive: ${arrival}; its attempts:\n${rows || '  none'}`,
    )
  }
  const tookMs = Math.round(performance.now() - publishedAt)
  print(`received ${tookMs} ms after psql was started:\n\n${asText(arrival)}\n`)
  verify(arrival, endpoint.secret)
  print('verified by the standardwebhooks package: the signature is valid\n')
  print(
    `its attempt, a row of outbox.attempt:\n\n${await recordedAttempt(stack, eventId, endpoint)}`,
  )
}

/** Resolves with the reason if the event cannot arrive, or with a timeout after `PATIENCE_MS`. */
async function obstacle(
  stack: Stack,
  { eventId, endpoint, over }: { eventId: string; endpoint: DemoEndpoint; over: AbortSignal },
): Promise<string> {
  const script = await readScript('obstacle.sql')
  const args = ['-v', `event_id=${eventId}`, '-v', `endpoint_id=${endpoint.id}`]
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    await delay(OBSTACLE_EVERY_MS)
    if (over.aborted) break
    const { stdout } = await stack.psql(script, { args })
    if (stdout !== '') return stdout
  }
  return `not within ${PATIENCE_MS / 1000} s`
}

/** Waits for the attempt: it is recorded by the first dispatch after the response. */
async function recordedAttempt(
  stack: Stack,
  eventId: string,
  endpoint: DemoEndpoint,
): Promise<string> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
    const rows = await attempts(stack, 'attempts.sql', { eventId, endpoint })
    if (rows !== '') return rows
    await delay(50)
  }
  throw new SetupError(`Event ${eventId} arrived, but there is no attempt of it`)
}

async function attempts(
  stack: Stack,
  script: 'attempts.sql' | 'failures.sql',
  { eventId, endpoint }: { eventId: string; endpoint: DemoEndpoint },
): Promise<string> {
  const { stdout } = await stack.psql(await readScript(script), {
    args: [
      '--expanded',
      '--field-separator=  ',
      '-v',
      `event_id=${eventId}`,
      '-v',
      `endpoint_id=${endpoint.id}`,
    ],
  })
  return stdout.replace(/^/gm, '  ').trimEnd()
}

function readScript(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`./start/${name}`, import.meta.url))
}

function nextSteps({ url }: Receiver): string {
  return `The receiver at ${url} shows each request that arrives. Try in psql:

  begin; select outbox.publish('order.paid', '{"id": 2, "total": 12.50}'); commit;
  begin; select outbox.publish('order.paid', '{"id": 3, "total": 7.25}'); rollback;   -- is never sent
  select event_type, status, attempt, created_at from outbox.delivery_status
    order by created_at desc limit 5;
`
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
