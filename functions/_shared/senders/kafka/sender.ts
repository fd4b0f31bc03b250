import type { Delivery, Endpoint, EventRow, Outcome } from '../../contract/contract.ts'
import { headersProblem } from '../../signing/headers.ts'
import { createConnections } from '../broker/connections.ts'
import { within } from '../broker/outcome.ts'
import { recordOf } from '../broker/record.ts'
import { expand, expandForLetter } from '../broker/template.ts'
import { failed } from '../http_outcome.ts'
import type { Sender, SenderDeps } from '../sender.ts'
import { dialKafka } from './cluster.ts'
import { settingsOf } from './target.ts'

/** Produces events to Kafka topics; each waits until all in-sync replicas have it. */
export function createKafkaSender(): Sender {
  const connections = createConnections({
    dial: dialKafka,
    close: (cluster) => cluster.close(),
    isOpen: () => true,
  })

  async function send(
    delivery: Delivery,
    endpoint: Endpoint,
    event: EventRow,
    { policy, wallNow }: SenderDeps,
  ): Promise<Outcome> {
    const settings = settingsOf(endpoint)
    if (settings === null) {
      return failed('protocol', 'The endpoint has no settings: set them with outbox.set_broker()')
    }
    const problem = headersProblem(endpoint)
    if (problem !== null) return failed('protocol', problem)
    const record = recordOf(delivery, endpoint, event, wallNow())
    const topic = record.isDeadLetter
      ? expandForLetter(settings.dlq_topic ?? '', event)
      : expand(settings.topic, event)
    if (topic === null || topic === '') return failed('protocol', 'There is no dead-letter topic')
    return await within(
      endpoint.timeout_ms,
      (isLate) =>
        connections.use(
          settings.target,
          policy,
          (cluster) => cluster.produce(topic, event.partition_key ?? null, record, isLate),
          { endpointId: delivery.endpoint, isLate },
        ),
    )
  }

  return {
    async ready({ endpoint }): Promise<boolean> {
      await connections.room(endpoint)
      return true
    },
    send,
    closeIdle: connections.closeIdle,
  }
}
