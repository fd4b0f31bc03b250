import type { TestOuthook } from '../outhook.ts'
import type { TestKafka } from './kafka.ts'
import type { TestRabbitMq } from './rabbitmq.ts'

type More = {
  broker?: Record<string, unknown>
  eventTypes?: string[]
  ordering?: string
}

/** Makes an endpoint of the test's RabbitMQ, as a backend would, and gives its id. */
export async function createRabbitMqEndpoint(
  outhook: TestOuthook,
  { port, vhost, user, password }: TestRabbitMq,
  { broker = {}, ...more }: More = {},
): Promise<string> {
  const url = `amqp://127.0.0.1:${port}/${encodeURIComponent(vhost)}`
  return await create(outhook, 'rabbitmq', { url, ...broker }, more, { username: user, password })
}

/** Makes an endpoint of the test's Kafka cluster, as a backend would, and gives its id. */
export async function createKafkaEndpoint(
  outhook: TestOuthook,
  { bootstrap }: TestKafka,
  { broker = {}, ...more }: More = {},
): Promise<string> {
  return await create(outhook, 'kafka', { brokers: bootstrap, tls: false, ...broker }, more)
}

async function create(
  { client }: TestOuthook,
  kind: string,
  broker: Record<string, unknown>,
  { eventTypes = ['*'], ordering }: Omit<More, 'broker'>,
  credentials?: Record<string, string>,
): Promise<string> {
  const { data, error } = await client.rpc('create_broker_endpoint', {
    p_kind: kind,
    p_broker: broker,
    p_event_types: eventTypes,
    ...credentials === undefined ? {} : { p_credentials: credentials },
    ...ordering === undefined ? {} : { p_ordering: ordering },
  })
  if (error !== null) throw new Error(`${error.code} ${error.message}`)
  // SAFETY: create_broker_endpoint() returns {"id"}.
  return (data as { id: string }).id
}
