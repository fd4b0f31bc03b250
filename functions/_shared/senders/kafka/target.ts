import { z } from 'zod'
import type { Endpoint } from '../../contract/contract.ts'

/** outbox.check_kafka() and outbox.check_credentials() keep these forms. */
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

/** Which cluster, and as whom. */
export type KafkaTarget = Pick<Broker, 'brokers' | 'tls' | 'ca' | 'sasl'> & {
  /** Null where no mechanism is named. */
  credentials: z.infer<typeof credentialsSchema> | null
}

/** Where a record goes. */
export type KafkaSettings = Pick<Broker, 'topic' | 'dlq_topic'> & { target: KafkaTarget }

const read = new WeakMap<Endpoint, KafkaSettings | null>()

/** The settings of an endpoint, read once a batch; null where they are not what they should be. */
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
