/** Sends one event to each endpoint (its row as a JSON argument) and prints the outcomes: for other runtimes. */

import process from 'node:process'
import type { Outcome } from '../../../functions/_shared/contract/contract.ts'
import { senders } from '../../../functions/_shared/senders/registry.ts'
import { sendOne } from '../../_support/brokers/endpoints.ts'

export async function main(): Promise<void> {
  const outcomes: Outcome[] = []
  for (const text of process.argv.slice(2)) {
    const endpoint = JSON.parse(text)
    const sender = senders.get(endpoint.kind)
    if (sender === undefined) throw new Error(`no sender of kind ${endpoint.kind}`)
    outcomes.push(await sendOne(sender, endpoint, { partition_key: 'edge' }))
    await sender.closeIdle?.()
  }
  await new Promise<void>((done) => process.stdout.write(JSON.stringify(outcomes), () => done()))
  process.exit(0)
}

if (import.meta.main) await main()
