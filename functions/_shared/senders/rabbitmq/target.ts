import * as z from 'zod'
import type { Endpoint } from '../../contract/contract.ts'

/** As checked by outbox.check_rabbitmq() and outbox.check_credentials(). */
const brokerSchema = z.object({
  url: z.string(),
  exchange: z.string(),
  routing_key: z.string(),
  mandatory: z.boolean(),
  ca: z.string().nullable(),
  dlq_exchange: z.string(),
  dlq_routing_key: z.string().nullable(),
})
const credentialsSchema = z.object({ username: z.string(), password: z.string() })
const endpointPart = z.object({ config: brokerSchema, credentials: credentialsSchema })

/** The broker and the user. */
export type RabbitMqTarget = {
  hostname: string
  port: number
  /** Percent-encoded, because amqplib decodes it. */
  vhost: string
  tls: boolean
  ca: string | null
  username: string
  password: string
}

/** The exchange and routing keys of an endpoint. */
export type RabbitMqSettings = z.infer<typeof brokerSchema> & { target: RabbitMqTarget }

const read = new WeakMap<Endpoint, RabbitMqSettings | null>()

/** The settings of an endpoint, parsed once a batch; null if they are invalid. */
export function settingsOf(endpoint: Endpoint): RabbitMqSettings | null {
  const known = read.get(endpoint)
  if (known !== undefined) return known
  const { data } = endpointPart.safeParse(endpoint)
  const settings = data !== undefined && URL.canParse(data.config.url)
    ? { ...data.config, target: targetOf(data.config, data.credentials) }
    : null
  read.set(endpoint, settings)
  return settings
}

function targetOf(
  { url, ca }: z.infer<typeof brokerSchema>,
  credentials: z.infer<typeof credentialsSchema>,
): RabbitMqTarget {
  const { protocol, hostname, port, pathname } = new URL(url)
  const tls = protocol === 'amqps:'
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (tls ? 5671 : 5672),
    vhost: pathname.length > 1 ? pathname.slice(1) : '%2F',
    tls,
    ca,
    ...credentials,
  }
}
