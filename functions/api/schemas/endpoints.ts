import { z } from '@hono/zod-openapi'
import { brokerSchema, credentialsSchema } from './brokers.ts'
import { pageOf, timeSchema, uuidSchema } from './common.ts'
import { retryPolicySchema } from './retry_config.ts'

const url = z.string().min(1).max(2048).openapi({
  description: 'Where deliveries are POSTed: https, a public address.',
  example: 'https://example.com/webhooks',
})
const eventTypes = z.array(z.string().min(1).max(128)).max(100).openapi({
  description: 'Exact types, prefixes such as `order.*`, or `*`.',
  example: ['order.paid', 'invoice.*'],
})
const filter = z.string().min(1).max(1000).nullable().openapi({
  description: 'A condition on the payload, in a part of jsonpath: paths, wildcards, comparisons ' +
    'with literals, `in (…)`, `starts with`, `exists(…)`, one level of `? (…)`. Its cost is ' +
    'bounded when it is saved; the error of what has none names the position and the remedy.',
  example: '$.total > 100 && $.country in ("DE", "FR")',
})
const headerName = z.string().min(1).max(100)
const headerValue = z.string().min(1).max(4096)

const settings = {
  description: z.string().max(1000).openapi({ example: 'The shop of Ada' }),
  payload: z.enum(['envelope', 'data']).openapi({
    description: 'What is sent: the event with its data, or the data alone.',
  }),
  timeoutMs: z.int().min(500).max(60_000).openapi({ description: 'For one whole request.' }),
  maxInFlight: z.int().min(1).max(1000).openapi({ description: 'Requests at a time.' }),
  quantum: z.int().min(1).max(1000).openapi({
    description: 'Deliveries in a row before the next endpoint has its turn.',
  }),
  ratePerSecond: z.number().min(0.001).max(100_000).nullable().openapi({
    description: 'Requests a second at most; null: as many as go.',
  }),
  rateBurst: z.int().min(1).max(100_000).openapi({
    description: 'Requests that may follow each other at once when there was a pause.',
  }),
  retry4xx: z.boolean().openapi({
    description: 'Retry every 4xx but 410; else 408, 425 and 429 alone.',
  }),
  onDeadLetter: z.enum(['continue', 'halt']).openapi({
    description: 'What an ordered queue does behind a delivery that is out of retries.',
  }),
}
const breaker = z.strictObject({
  enabled: z.boolean(),
  threshold: z.int().min(1).max(1000).openapi({ description: 'Failures in a row that open it.' }),
  openMs: z.int().min(1000).max(3_600_000).openapi({ description: 'Until the probe.' }),
})
const ordering = z.enum(['none', 'partition', 'endpoint']).openapi({
  description: 'Whether deliveries keep the order of their partition key, or of all. Fixed.',
})

/** A new endpoint. */
export const newEndpointSchema = z.strictObject({
  kind: z.enum(['webhook', 'slack', 'rabbitmq', 'kafka']).optional().openapi({
    description: 'What is sent: signed webhooks, lines of text to a Slack-compatible incoming ' +
      'webhook, which has no secret, ordering, payload or retry of its own, or messages to a ' +
      'broker, which has `broker` in place of a URL and is created with a secret key alone.',
  }),
  url: url.optional(),
  broker: brokerSchema.optional(),
  credentials: credentialsSchema.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  secret: z.string().min(1).max(200).optional().openapi({
    description: '`whsec_` and the base64 of 24 to 64 random bytes; made when absent.',
  }),
  headers: z.record(headerName, headerValue).optional().openapi({
    description: 'Headers of your own; their values are never shown again.',
  }),
  ordering: ordering.optional(),
  retry: retryPolicySchema.optional(),
  breaker: breaker.partial().optional(),
  ...z.object(settings).partial().shape,
}).openapi('NewEndpoint', {
  example: { url: 'https://example.com/webhooks', eventTypes: ['order.*'] },
})

/** A change: what is absent stays. */
export const endpointChangeSchema = z.strictObject({
  url: url.optional(),
  broker: brokerSchema.optional().openapi({ description: 'What is absent of it stays, too.' }),
  credentials: credentialsSchema.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  headers: z.record(headerName, headerValue.nullable()).optional().openapi({
    description: 'By name: a value sets the header, null removes it, the others stay.',
  }),
  breaker: breaker.partial().optional(),
  ...z.object(settings).partial().shape,
}).openapi('EndpointChange', { example: { description: 'The old shop', maxInFlight: 5 } })

export const endpointStatus = z.enum(['enabled', 'paused', 'disabled'])

/** An endpoint. */
export const endpointSchema = z.object({
  id: uuidSchema,
  kind: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()),
  filter: z.string().nullable(),
  headerNames: z.array(z.string()).openapi({ description: 'Of the headers of your own.' }),
  ordering,
  ...settings,
  description: z.string(),
  broker: brokerSchema.nullable().openapi({ description: 'Of a broker alone.' }),
  breaker: z.object({
    enabled: z.boolean(),
    threshold: z.int(),
    openMs: z.int(),
    status: z.enum(['closed', 'open', 'half_open']).nullable(),
  }),
  status: endpointStatus,
  statusReason: z.string().nullable(),
  version: z.int().openapi({ description: 'Grows with each change; the ETag.' }),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Endpoint')

/** An endpoint with its secret, as its creation answers. */
export const createdEndpointSchema = endpointSchema.extend({
  secret: z.string().optional().openapi({
    description: 'Signs what is sent; shown here. Only webhooks have one.',
  }),
}).openapi('CreatedEndpoint')

export const endpointPageSchema = pageOf(endpointSchema).openapi('EndpointPage')

export const endpointParams = z.object({
  endpointId: uuidSchema.openapi({ param: { name: 'endpointId', in: 'path' } }),
})

export const endpointDeletedSchema = z.object({
  id: uuidSchema,
  open: z.int().openapi({ description: 'Deliveries that are cancelled with it.' }),
}).openapi('EndpointDeleted')
