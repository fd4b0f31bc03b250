import { z } from '../zod_openapi.ts'

const ca = z.string().max(65_536).nullable().openapi({
  description: 'Certificates in PEM. They replace the public certificate authorities.',
})

/** The settings of a broker; outbox.create_broker_endpoint() validates their values. */
export const brokerSchema = z.strictObject({
  url: z.string().max(2048).optional().openapi({
    description: 'RabbitMQ: `amqps://host:port/vhost`, without credentials.',
  }),
  exchange: z.string().optional().openapi({
    description: 'RabbitMQ: the exchange; the default is `amq.topic`.',
  }),
  routingKey: z.string().optional().openapi({
    description: 'RabbitMQ: may contain `{type}`, `{org}`, `{key}`; the default is `{type}`.',
  }),
  mandatory: z.boolean().optional().openapi({
    description:
      'RabbitMQ: whether it is a failure if no queue takes a message; the default is true.',
  }),
  dlqExchange: z.string().optional().openapi({
    description: 'RabbitMQ: the exchange for dead letters; the default is the default exchange.',
  }),
  dlqRoutingKey: z.string().nullable().optional().openapi({
    description:
      'RabbitMQ: the routing key of dead letters, such as a queue; null: they are not published.',
  }),
  brokers: z.array(z.string()).max(20).optional().openapi({
    description: 'Kafka: `host:port` of one or more brokers of the cluster.',
  }),
  topic: z.string().optional().openapi({
    description: 'Kafka: may contain `{type}` and `{org}`; the default is `{type}`.',
  }),
  tls: z.boolean().optional().openapi({
    description: 'Kafka: whether to use TLS; the default is true.',
  }),
  sasl: z.string().nullable().optional().openapi({
    description: 'Kafka: `plain`, `scram-sha-256`, `scram-sha-512`, or null.',
  }),
  dlqTopic: z.string().nullable().optional().openapi({
    description:
      'Kafka: the topic for dead letters; the default is `{topic}.dlq`; null: they are not published.',
  }),
  ca: ca.optional(),
}).openapi('Broker', {
  example: { brokers: ['kafka-1.example.com:9093'], topic: 'shop.{type}', sasl: 'scram-sha-512' },
})
