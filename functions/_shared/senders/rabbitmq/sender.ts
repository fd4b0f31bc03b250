import type { Delivery, Endpoint, EventRow, Outcome } from '../../contract/contract.ts'
import { headersProblem } from '../../signing/headers.ts'
import { createConnections } from '../broker/connections.ts'
import { within } from '../broker/outcome.ts'
import { type BrokerRecord, recordOf } from '../broker/record.ts'
import { expand, expandForLetter } from '../broker/template.ts'
import { failed } from '../http_outcome.ts'
import type { Sender, SenderDeps } from '../sender.ts'
import { dialRabbitMq } from './connection.ts'
import type { Message } from './publisher.ts'
import { type RabbitMqSettings, settingsOf } from './target.ts'

/** Publishes events to RabbitMQ exchanges and waits for the confirmation of each. */
export function createRabbitMqSender(): Sender {
  const connections = createConnections({
    dial: dialRabbitMq,
    close: (connection) => connection.close(),
    isOpen: (connection) => connection.isOpen,
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
    const message = messageOf(recordOf(delivery, endpoint, event, wallNow()), event, settings)
    return await within(
      endpoint.timeout_ms,
      (isLate) =>
        connections.use(
          settings.target,
          policy,
          (connection) => connection.publish(delivery.endpoint, message, isLate),
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

function messageOf(
  { id, value, headers, timestamp, isDeadLetter }: BrokerRecord,
  event: EventRow,
  settings: RabbitMqSettings,
): Message {
  const { exchange, routing_key, dlq_exchange, dlq_routing_key } = settings
  return {
    exchange: isDeadLetter ? dlq_exchange : exchange,
    routingKey: isDeadLetter
      ? expandForLetter(dlq_routing_key ?? '', event) ?? ''
      : expand(routing_key, event),
    content: value,
    options: {
      persistent: true,
      // A dead letter that no queue takes would be lost.
      mandatory: settings.mandatory || isDeadLetter,
      messageId: id,
      correlationId: event.correlation_id,
      contentType: 'application/json',
      type: event.type,
      timestamp,
      appId: 'outhook',
      headers,
    },
  }
}
