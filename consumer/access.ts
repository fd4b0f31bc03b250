import type { SASLOptions } from 'kafkajs'
import { z } from 'zod'
import { connectionUrlProblem } from '../functions/_shared/database/url.ts'
import { isAmqpUrl, isBroker } from './addresses.ts'
import type { KafkaAccess } from './kafka/connect.ts'
import type { RabbitMqAccess } from './rabbitmq/connect.ts'

type Environment = Record<string, string | undefined>

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

const kafkaVariables = z.object({
  OUTHOOK_KAFKA_BROKERS: z.string({
    error: 'is not set: set it to host:port of the brokers, separated by commas',
  })
    .transform((text) => text.split(',').map((one) => one.trim()).filter((one) => one !== ''))
    .refine(
      (brokers) => brokers.length > 0 && brokers.every(isBroker),
      'must be host:port of the brokers, separated by commas',
    ),
  OUTHOOK_KAFKA_TLS: z.enum(['', '0', '1']).default(''),
  OUTHOOK_KAFKA_CA: z.string().default(''),
  OUTHOOK_KAFKA_SASL: z.enum(mechanisms, { error: `must be one of ${mechanisms.join(', ')}` })
    .optional(),
  OUTHOOK_KAFKA_USERNAME: z.string().default(''),
  OUTHOOK_KAFKA_PASSWORD: z.string().default(''),
})

const rabbitMqVariables = z.object({
  OUTHOOK_RABBITMQ_URL: z.string({
    error: 'is not set: set it to amqp://user:password@host:5672/vhost',
  })
    .refine(
      isAmqpUrl,
      'must be amqp://user:password@host:5672/vhost or amqps://…, each part percent-encoded',
    ),
  OUTHOOK_RABBITMQ_CA: z.string().default(''),
})

const databaseVariables = z.object({
  OUTHOOK_DB_URL: z.string({ error: "is not set: set it to the database's connection string" })
    .superRefine((url, context) => {
      const problem = connectionUrlProblem(url)
      if (problem !== null) context.addIssue(problem)
    }),
})

export type ReadFile = (path: string) => Promise<string>

/** The access to Kafka; throws an error that names the invalid variable, never its value. */
export async function readKafkaAccess(
  environment: Environment,
  readFile: ReadFile,
): Promise<KafkaAccess> {
  const env = read(kafkaVariables, environment)
  const { OUTHOOK_KAFKA_CA: ca, OUTHOOK_KAFKA_SASL: mechanism } = env
  const login = { username: env.OUTHOOK_KAFKA_USERNAME, password: env.OUTHOOK_KAFKA_PASSWORD }
  return {
    brokers: env.OUTHOOK_KAFKA_BROKERS,
    tls: ca === '' ? env.OUTHOOK_KAFKA_TLS === '1' : await readFile(ca),
    sasl: mechanism === undefined ? null : saslOf(mechanism, login),
  }
}

function saslOf(
  mechanism: typeof mechanisms[number],
  login: { username: string; password: string },
): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, ...login }
    case 'scram-sha-256':
      return { mechanism, ...login }
    case 'scram-sha-512':
      return { mechanism, ...login }
  }
}

/** The access to RabbitMQ; throws an error that names the invalid variable, never its value. */
export async function readRabbitMqAccess(
  environment: Environment,
  readFile: ReadFile,
): Promise<RabbitMqAccess> {
  const env = read(rabbitMqVariables, environment)
  const ca = env.OUTHOOK_RABBITMQ_CA
  return { url: env.OUTHOOK_RABBITMQ_URL, ca: ca === '' ? null : await readFile(ca) }
}

/** The database's connection string; throws an error that names the variable, never its value. */
export function readDatabaseUrl(environment: Environment): string {
  return read(databaseVariables, environment).OUTHOOK_DB_URL
}

function read<T>(schema: z.ZodType<T>, environment: Environment): T {
  const result = schema.safeParse(environment)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
}
