import { z } from '@hono/zod-openapi'

const ca = z.string().max(65_536).nullable().openapi({
  description: 'Certificates in PEM that are trusted in place of the public authorities.',
})

/** The settings that only a broker has; outbox.create_broker_endpoint() checks what is in them. */
export const brokerSchema = z.strictObject({
  url: z.string().max(2048).optional().openapi({
    description: 'RabbitMQ: `amqps://host:port/vhost`, without credentials.',
  }),
  exchange: z.string().optional().openapi({ description: 'RabbitMQ: `amq.topic` when absent.' }),
  routingKey: z.string().optional().openapi({
    description: 'RabbitMQ: with `{type}`, `{org}`, `{key}` in it; `{type}` when absent.',
  }),
  mandatory: z.boolean().optional().openapi({
    description: 'RabbitMQ: a message that no queue takes is a failure; true when absent.',
  }),
  dlqExchange: z.string().optional().openapi({
    description: 'RabbitMQ: where dead letters go; the default exchange when absent.',
  }),
  dlqRoutingKey: z.string().nullable().optional().openapi({
    description: 'RabbitMQ: under which key, such as a queue; null: dead letters go nowhere.',
  }),
  brokers: z.array(z.string()).max(20).optional().openapi({
    description: 'Kafka: `host:port` of some brokers of the cluster.',
  }),
  topic: z.string().optional().openapi({
    description: 'Kafka: with `{type}` and `{org}` in it; `{type}` when absent.',
  }),
  tls: z.boolean().optional().openapi({ description: 'Kafka: true when absent.' }),
  sasl: z.string().nullable().optional().openapi({
    description: 'Kafka: `plain`, `scram-sha-256`, `scram-sha-512`, or null.',
  }),
  dlqTopic: z.string().nullable().optional().openapi({
    description: 'Kafka: where dead letters go; `{topic}.dlq` when absent, null: nowhere.',
  }),
  ca: ca.optional(),
}).openapi('Broker', {
  example: { brokers: ['kafka-1.example.com:9093'], topic: 'shop.{type}', sasl: 'scram-sha-512' },
})

/** What a broker is logged in to with; never shown again. */
export const credentialsSchema = z.strictObject({
  username: z.string().min(1).max(2048),
  password: z.string().min(1).max(2048),
}).openapi('BrokerCredentials')
