import { z } from '@hono/zod-openapi'

const ca = z.string().max(65_536).nullable().openapi({
  description: 'Certificates (PEM) to trust instead of the public authorities.',
})

/** The settings of a broker endpoint; outbox.create_broker_endpoint() checks their values. */
export const brokerSchema = z.strictObject({
  url: z.string().max(2048).optional().openapi({
    description: 'RabbitMQ: `amqps://host:port/vhost`, without credentials.',
  }),
  exchange: z.string().optional().openapi({ description: 'RabbitMQ; default `amq.topic`.' }),
  routingKey: z.string().optional().openapi({
    description: 'RabbitMQ: a template with `{type}`, `{org}` and `{key}`; default `{type}`.',
  }),
  mandatory: z.boolean().optional().openapi({
    description: 'RabbitMQ: fail if no queue takes the message; default true.',
  }),
  dlqExchange: z.string().optional().openapi({
    description: 'RabbitMQ: the exchange for dead letters; default: the default exchange.',
  }),
  dlqRoutingKey: z.string().nullable().optional().openapi({
    description:
      'RabbitMQ: the routing key for dead letters, such as a queue; null: none are sent.',
  }),
  brokers: z.array(z.string()).max(20).optional().openapi({
    description: 'Kafka: `host:port` of at least one broker of the cluster.',
  }),
  topic: z.string().optional().openapi({
    description: 'Kafka: a template with `{type}` and `{org}`; default `{type}`.',
  }),
  tls: z.boolean().optional().openapi({ description: 'Kafka; default true.' }),
  sasl: z.string().nullable().optional().openapi({
    description: 'Kafka: `plain`, `scram-sha-256`, `scram-sha-512`, or null.',
  }),
  dlqTopic: z.string().nullable().optional().openapi({
    description: 'Kafka: the topic for dead letters; default `{topic}.dlq`; null: none are sent.',
  }),
  ca: ca.optional(),
}).openapi('Broker', {
  example: { brokers: ['kafka-1.example.com:9093'], topic: 'shop.{type}', sasl: 'scram-sha-512' },
})

/** Credentials of a broker; never returned. */
export const credentialsSchema = z.strictObject({
  username: z.string().min(1).max(2048),
  password: z.string().min(1).max(2048),
}).openapi('BrokerCredentials')
