/** Sends one event to each endpoint (kind and row as JSON arguments) and prints the outcomes: for the Deno of the edge runtime. */

import { senders } from '../../../functions/_shared/senders/registry.ts'
import { sendOne } from '../../_support/brokers/endpoints.ts'

const outcomes = []
for (const text of Deno.args) {
  const endpoint = JSON.parse(text)
  const sender = senders.get(endpoint.kind)
  if (sender === undefined) throw new Error(`no sender of kind ${endpoint.kind}`)
  outcomes.push(await sendOne(sender, endpoint, { partition_key: 'edge' }))
  await sender.closeIdle?.()
}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(outcomes)))
Deno.exit(0)
