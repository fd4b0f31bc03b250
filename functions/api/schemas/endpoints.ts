import { z } from '@hono/zod-openapi'
import { brokerSchema, credentialsSchema } from './brokers.ts'
import { pageOf, timeSchema, uuidSchema } from './common.ts'
import { retryPolicySchema } from './retry_config.ts'

const url = z.string().min(1).max(2048).openapi({
  description: 'The URL that receives deliveries by POST: https, a public address.',
  example: 'https://example.com/webhooks',
})
const eventTypes = z.array(z.string().min(1).max(128)).max(100).openapi({
  description: 'Exact types, prefixes such as `order.*`, or `*`.',
  example: ['order.paid', 'invoice.*'],
})
const filter = z.string().min(1).max(1000).nullable().openapi({
  description:
    'A condition on the payload, in a subset of jsonpath: paths, wildcards, comparisons ' +
    'with literals, `in (…)`, `starts with`, `exists(…)`, one level of `? (…)`. Its cost is ' +
    'checked when it is saved; the error of an invalid one names the position and the remedy.',
  example: '$.total > 100 && $.country in ("DE", "FR")',
})
const headerName = z.string().min(1).max(100)
const headerValue = z.string().min(1).max(4096)

const settings = {
  description: z.string().max(1000).openapi({ example: 'The shop of Ada' }),
  payload: z.enum(['envelope', 'data']).openapi({
    description: 'The body: the event with its data, or only the data.',
  }),
  timeoutMs: z.int().min(500).max(60_000).openapi({ description: 'For one whole request.' }),
  maxInFlight: z.int().min(1).max(1000).openapi({ description: 'Requests at a time.' }),
  quantum: z.int().min(1).max(1000).openapi({
    description: 'Consecutive deliveries before the next endpoint has its turn.',
  }),
  ratePerSecond: z.number().min(0.001).max(100_000).nullable().openapi({
    description: 'The most requests a second; null: no limit.',
  }),
  rateBurst: z.int().min(1).max(100_000).openapi({
    description: 'Requests without delay after a pause.',
  }),
  retry4xx: z.boolean().openapi({
    description: 'Retry every 4xx except 410; otherwise only 408, 425 and 429.',
  }),
  onDeadLetter: z.enum(['continue', 'halt']).openapi({
    description: 'What an ordered queue does after a delivery has used all retries.',
  }),
}
const breaker = z.strictObject({
  enabled: z.boolean(),
  threshold: z.int().min(1).max(1000).openapi({
    description: 'Consecutive failures that open it.',
  }),
  openMs: z.int().min(1000).max(3_600_000).openapi({ description: 'Time until the probe.' }),
})
const ordering = z.enum(['none', 'partition', 'endpoint']).openapi({
  description:
    'Whether deliveries keep the order of their partition key, or of all events. Cannot change.',
})

export const newEndpointSchema = z.strictObject({
  kind: z.enum(['webhook', 'slack', 'rabbitmq', 'kafka']).optional().openapi({
    description: 'The kind: signed webhooks; lines of text to a Slack-compatible incoming ' +
      'webhook, which has no secret, ordering, payload or retry; or messages to a ' +
      'broker, which has `broker` instead of a URL and requires a secret key.',
  }),
  url: url.optional(),
  broker: brokerSchema.optional(),
  credentials: credentialsSchema.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  secret: z.string().min(1).max(200).optional().openapi({
    description: '`whsec_` and the base64 of 24 to 64 random bytes; generated if absent.',
  }),
  headers: z.record(headerName, headerValue).optional().openapi({
    description: 'Custom headers; their values are never returned.',
  }),
  ordering: ordering.optional(),
  retry: retryPolicySchema.optional(),
  breaker: breaker.partial().optional(),
  ...z.object(settings).partial().shape,
}).openapi('NewEndpoint', {
  example: { url: 'https://example.com/webhooks', eventTypes: ['order.*'] },
})

/** A change of an endpoint; absent members stay. */
export const endpointChangeSchema = z.strictObject({
  url: url.optional(),
  broker: brokerSchema.optional().openapi({ description: 'Absent members stay, too.' }),
  credentials: credentialsSchema.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  headers: z.record(headerName, headerValue.nullable()).optional().openapi({
    description: 'By name: a value sets the header, null removes it; others stay.',
  }),
  breaker: breaker.partial().optional(),
  ...z.object(settings).partial().shape,
}).openapi('EndpointChange', { example: { description: 'The old shop', maxInFlight: 5 } })

export const endpointState = z.enum(['enabled', 'paused', 'disabled'])

export const endpointSchema = z.object({
  id: uuidSchema,
  kind: z.string(),
  url: z.string(),
  eventTypes: z.array(z.string()),
  filter: z.string().nullable(),
  headerNames: z.array(z.string()).openapi({ description: 'The names of the custom headers.' }),
  ordering,
  ...settings,
  description: z.string(),
  broker: brokerSchema.nullable().openapi({ description: 'Only for brokers.' }),
  breaker: z.object({
    enabled: z.boolean(),
    threshold: z.int(),
    openMs: z.int(),
    state: z.enum(['closed', 'open', 'half_open']).nullable(),
  }),
  state: endpointState,
  stateReason: z.string().nullable(),
  version: z.int().openapi({ description: 'Increases with each change; the ETag.' }),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Endpoint')

/** An endpoint with its secret, as its creation returns it. */
export const createdEndpointSchema = endpointSchema.extend({
  secret: z.string().optional().openapi({
    description: 'Signs deliveries; returned only here. Only webhooks have one.',
  }),
}).openapi('CreatedEndpoint')

export const endpointPageSchema = pageOf(endpointSchema).openapi('EndpointPage')

export const endpointParams = z.object({
  endpointId: uuidSchema.openapi({ param: { name: 'endpointId', in: 'path' } }),
})

export const endpointDeletedSchema = z.object({
  id: uuidSchema,
  open: z.int().openapi({ description: 'Open deliveries, which are cancelled.' }),
}).openapi('EndpointDeleted')
