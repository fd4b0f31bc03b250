import { createAddressPolicy } from '../../../functions/_shared/connect/address.ts'
import type { Endpoint, EventRow, Outcome } from '../../../functions/_shared/contract/contract.ts'
import type { Sender } from '../../../functions/_shared/senders/sender.ts'
import { createKeyCache } from '../../../functions/_shared/signing/sign.ts'
import { createHttp1Transport } from '../../../functions/_shared/transport/http1.ts'
import {
  sampleDelivery,
  sampleEndpoint,
  sampleEvent,
  sampleSettings,
} from '../../functions/samples.ts'

/** Where a RabbitMQ is. Its own types would bring the local stack with them, which the edge level of Deno cannot check. */
interface RabbitMqPlace {
  readonly port: number
  readonly vhost: string
  readonly user: string
  readonly password: string
}

/** A RabbitMQ endpoint as a run gets it; `broker` are other settings than those of a new one. */
export function rabbitMqEndpoint(
  { port, vhost, user, password }: RabbitMqPlace,
  broker: Record<string, unknown> = {},
  credentials: Record<string, string> = { username: user, password },
): Endpoint {
  return sampleEndpoint({
    kind: 'rabbitmq',
    credentials,
    config: {
      url: `amqp://127.0.0.1:${port}/${encodeURIComponent(vhost)}`,
      exchange: 'amq.topic',
      routing_key: '{type}',
      mandatory: true,
      ca: null,
      dlq_exchange: '',
      dlq_routing_key: null,
      ...broker,
    },
  })
}

/** The same for Kafka. */
export function kafkaEndpoint(
  { bootstrap }: { readonly bootstrap: string[] },
  broker: Record<string, unknown> = {},
  credentials: Record<string, string> | null = null,
): Endpoint {
  return sampleEndpoint({
    kind: 'kafka',
    credentials,
    config: {
      brokers: bootstrap,
      topic: '{type}',
      tls: false,
      ca: null,
      sasl: null,
      dlq_topic: '{topic}.dlq',
      ...broker,
    },
  })
}

let next = 0

/** Sends one event with an id of its own, as a run would under these networks. */
export function sendOne(
  sender: Sender,
  endpoint: Endpoint,
  event: Partial<EventRow> = {},
  { id = `event-${next++}`, endpointId = 'endpoint-1', allowCidrs = ['127.0.0.0/8', '::1/128'] } =
    {},
): Promise<Outcome> {
  return sender.send(
    sampleDelivery({ event: id, endpoint: endpointId }),
    endpoint,
    sampleEvent(event),
    {
      transport,
      keys: createKeyCache(),
      settings: sampleSettings(),
      policy: policyOf(allowCidrs),
      wallNow: Date.now,
    },
  )
}

const transport = createHttp1Transport()
const policies = new Map<string, ReturnType<typeof createAddressPolicy>>()

/** The same policy for the same networks: a run keeps its connections while it holds. */
function policyOf(allowCidrs: string[]): ReturnType<typeof createAddressPolicy> {
  const key = allowCidrs.join()
  const policy = policies.get(key) ?? createAddressPolicy({ allowHttp: true, allowCidrs })
  policies.set(key, policy)
  return policy
}
