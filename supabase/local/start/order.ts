/** The saga of `deno task start`: an order of three steps, all or nothing. */

import { z } from 'zod'
import { SetupError } from '../errors.ts'
import { print } from '../print.ts'
import type { Stack } from '../stack.ts'
import type { Receiver } from './receiver.ts'

const result = z.object({ id: z.string(), event_ids: z.array(z.string()) })
const refusal = z.object({ message: z.string() })

/**
 * Defines the saga of docs/sagas.md, executes it over HTTP as an application would, and prints the
 * delivered events; then an order that the customer cannot pay. Throws a SetupError if a step fails.
 * Without the module sagas it only prints that the module is not installed.
 */
export async function showOrder(
  stack: Stack,
  receiver: Receiver,
  patience: AbortSignal,
): Promise<void> {
  const found = await stack.psql("select to_regclass('outbox.saga') is not null")
  if (found.stdout === 'f') {
    print('\nno saga is executed: the module sagas is not installed\n')
    return
  }
  const script = await Deno.readTextFile(new URL('./order_saga.sql', import.meta.url))
  const defined = await stack.psql(script)
  if (defined.code !== 0) throw new SetupError(`Cannot define the saga: ${defined.stderr}`)
  const order = { order: Date.now(), customer: 'ada', item: 'lamp', quantity: 2 }
  print(`\nexecuting the saga place_order for ${JSON.stringify(order)}`)

  const done = result.safeParse((await execute(stack, order)).body)
  if (!done.success) throw new SetupError('The saga place_order did not return its result')
  const arrivals = await Promise.race([
    Promise.all(done.data.event_ids.map((id) => receiver.arrival(id))),
    new Promise<null>((resolve) => patience.addEventListener('abort', () => resolve(null))),
  ])
  if (arrivals === null) throw new SetupError('The events of the saga place_order did not arrive')
  for (const { headers, body } of arrivals) {
    print(`received ${headers['x-event-type']}: ${JSON.stringify(JSON.parse(body).data)}`)
  }

  const refused = await execute(stack, { ...order, order: order.order + 1, quantity: 60_000 })
  if (refused.status === 200) throw new SetupError('An order that cannot be paid was not refused')
  const problem = refusal.safeParse(refused.body)
  if (!problem.success) throw new SetupError('The refusal of an order has no message')
  print(
    `an order of 60,000, which the customer cannot pay, changes nothing: ${problem.data.message}\n`,
  )
}

async function execute(stack: Stack, context: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${stack.apiUrl}/rest/v1/rpc/execute_saga`, {
    method: 'POST',
    headers: {
      apikey: stack.keys.secretKey,
      'content-profile': 'outbox',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ p_name: 'place_order', p_context: context }),
  })
  return { status: response.status, body: await response.json() }
}
