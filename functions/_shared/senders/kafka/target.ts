import * as z from 'zod'
import type { Endpoint } from '../../contract/contract.ts'

/** As checked by outbox.check_kafka() and outbox.check_credentials(). */
const brokerSchema = z.object({
  brokers: z.array(z.string()),
  topic: z.string(),
  tls: z.boolean(),
  ca: z.string().nullable(),
  sasl: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).nullable(),
  dlq_topic: z.string().nullable(),
})
const credentialsSchema = z.object({ username: z.string(), password: z.string() })
const endpointPart = z.object({ config: brokerSchema, credentials: z.unknown() })

type Broker = z.infer<typeof brokerSchema>

/** The cluster and the user. */
export type KafkaTarget = Pick<Broker, 'brokers' | 'tls' | 'ca' | 'sasl'> & {
  /** null without a SASL mechanism. */
  credentials: z.infer<typeof credentialsSchema> | null
}

/** The topics of an endpoint. */
export type KafkaSettings = Pick<Broker, 'topic' | 'dlq_topic'> & { target: KafkaTarget }

const read = new WeakMap<Endpoint, KafkaSettings | null>()

/** The settings of an endpoint, parsed once a batch; null if they are invalid. */
export function settingsOf(endpoint: Endpoint): KafkaSettings | null {
  const known = read.get(endpoint)
  if (known !== undefined) return known
  const settings = readSettings(endpoint)
  read.set(endpoint, settings)
  return settings
}

function readSettings(endpoint: Endpoint): KafkaSettings | null {
  const part = endpointPart.safeParse(endpoint)
  if (!part.success) return null
  const { topic, dlq_topic, brokers, tls, ca, sasl } = part.data.config
  const given = credentialsSchema.safeParse(part.data.credentials)
  if (sasl !== null && !given.success) return null
  const credentials = sasl !== null && given.success ? given.data : null
  return { topic, dlq_topic, target: { brokers, tls, ca, sasl, credentials } }
}
