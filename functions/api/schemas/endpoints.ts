import { keyed } from '../../_shared/base/keyed.ts'
import { z } from '../zod_openapi.ts'
import { brokerSchema } from './brokers.ts'
import { pageOf, timeSchema, uuidSchema } from './common.ts'
import { presetSchema, retryPolicySchema, shownPolicySchema } from './retry_config.ts'

const url = z.string().min(1).max(2048).openapi({
  description: 'Deliveries are POSTed to this URL. It must be https with a public address.',
  example: 'https://example.com/webhooks',
})
const eventTypes = z.array(z.string().min(1).max(128)).max(100).openapi({
  description: 'Exact types, prefixes such as `order.*`, or `*`.',
  example: ['order.paid', 'invoice.*'],
})
const filter = z.string().min(1).max(1000).nullable().openapi({
  description:
    'A condition on the payload, in a subset of jsonpath: paths, wildcards, comparisons ' +
    'with literals, `in (…)`, `starts with`, `exists(…)`, one level of `? (…)`. A filter is saved ' +
    'only if its cost is bounded. Otherwise, the error has the position and a remedy.',
  example: '$.total > 100 && $.country in ("DE", "FR")',
})
const headerName = z.string().min(1).max(100)
const headerValue = z.string().min(1).max(4096)

const settings = {
  description: z.string().max(1000).openapi({ example: 'The shop of Ada' }),
  payload: z.enum(['envelope', 'data']).openapi({
    description:
      'The body of a request: `envelope` is the event with its data, `data` is only the data.',
  }),
  timeoutMs: z.int().min(500).max(60_000).openapi({
    description: 'The timeout of one whole request.',
  }),
  maxInFlight: z.int().min(1).max(1000).openapi({
    description: 'The maximum number of requests in flight.',
  }),
  quantum: z.int().min(1).max(1000).openapi({
    description:
      'The maximum number of deliveries in one turn, before the next endpoint is served.',
  }),
  ratePerSecond: z.number().min(0.001).max(100_000).nullable().openapi({
    description: 'The maximum rate of requests; null: no limit.',
  }),
  rateBurst: z.int().min(1).max(100_000).openapi({
    description: 'The maximum number of requests at once after a pause.',
  }),
  retry4xx: z.boolean().openapi({
    description: 'True: retry every 4xx except 410. False: retry only 408, 425 and 429.',
  }),
  onDeadLetter: z.enum(['continue', 'halt']).openapi({
    description: 'For ordered endpoints: what happens to later deliveries after a dead letter.',
  }),
}
const breaker = z.strictObject({
  enabled: z.boolean(),
  threshold: z.int().min(1).max(1000).openapi({
    description: 'The number of consecutive failures that opens the breaker.',
  }),
  openMs: z.int().min(1000).max(3_600_000).openapi({ description: 'The time until the probe.' }),
})
const ordering = z.enum(['none', 'partition', 'endpoint']).openapi({
  description:
    '`partition`: in order for each partition key; `endpoint`: all in order. It cannot be changed.',
})

const kind = z.string().regex(/^[a-z][a-z0-9_]{0,30}$/)

/** Members that only some kinds have; the database validates them with the functions of the kind. */
const config = keyed(
  z.string().min(1).max(100),
  z.union([z.string().max(4096), z.number(), z.boolean(), z.null()]),
).openapi({ description: 'The settings of a kind that is not part of Outhook.' })
const credentials = keyed(z.string().min(1).max(100), z.string().min(1).max(2048)).openapi({
  description:
    'Secret values of this kind. `rabbitmq` and `kafka` have `username` and `password`. The API ' +
    'never returns them.',
  example: { username: 'ada', password: 'a password' },
})

/** A new endpoint. */
export const newEndpointSchema = z.strictObject({
  kind: kind.optional().openapi({
    description:
      '`webhook` sends signed requests. `slack` sends text to a Slack-compatible incoming ' +
      'webhook; it has no `secret`, `ordering`, `payload` or `retry`. `rabbitmq` and `kafka` send ' +
      'messages to a broker; they have `broker` instead of `url`. An installation may have more ' +
      'kinds. Every kind except `webhook` and `slack` needs a secret key to create.',
    default: 'webhook',
    examples: ['webhook', 'slack', 'rabbitmq', 'kafka'],
  }),
  url: url.optional(),
  broker: brokerSchema.optional(),
  config: config.optional(),
  credentials: credentials.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  secret: z.string().min(1).max(200).optional().openapi({
    description: '`whsec_` and 24 to 64 random bytes in base64; generated if absent.',
  }),
  headers: keyed(headerName, headerValue).optional().openapi({
    description: 'Custom headers. The API never returns their values.',
  }),
  ordering: ordering.optional(),
  retry: retryPolicySchema.optional(),
  breaker: breaker.partial().optional(),
  ...z.object(settings).partial().shape,
}).openapi('NewEndpoint', {
  example: { url: 'https://example.com/webhooks', eventTypes: ['order.*'] },
})

/** A change; absent members stay unchanged. */
export const endpointChangeSchema = z.strictObject({
  url: url.optional().openapi({
    description:
      'If it leads to another scheme, host or port, `headers` must name all custom headers again.',
  }),
  broker: brokerSchema.optional().openapi({ description: 'Absent members stay unchanged.' }),
  config: config.optional().openapi({ description: 'Absent members stay unchanged.' }),
  credentials: credentials.optional(),
  eventTypes: eventTypes.optional(),
  filter: filter.optional(),
  headers: keyed(headerName, headerValue.nullable()).optional().openapi({
    description: 'By name: a value sets the header, null removes it. Other headers stay unchanged.',
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
  headerNames: z.array(z.string()).openapi({ description: 'The names of the custom headers.' }),
  ordering,
  ...settings,
  description: z.string(),
  broker: brokerSchema.nullable().openapi({ description: 'Only for `rabbitmq` and `kafka`.' }),
  config: keyed(z.string(), z.unknown()).nullable().openapi({
    description: 'The settings of a kind that is not part of Outhook.',
  }),
  retry: shownPolicySchema.openapi({ description: 'The retry policy in force.' }),
  retryPreset: presetSchema,
  breaker: z.object({
    enabled: z.boolean(),
    threshold: z.int(),
    openMs: z.int(),
    status: z.enum(['closed', 'open', 'half_open']).nullable(),
  }),
  status: endpointStatus,
  statusReason: z.string().nullable(),
  version: z.int().openapi({
    description: 'The version; it grows with each change. The ETag has the same number.',
  }),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Endpoint')

/** An endpoint with its secret: the response when it is created. */
export const createdEndpointSchema = endpointSchema.extend({
  secret: z.string().optional().openapi({
    description: 'The secret that signs requests. Only webhooks have one.',
  }),
}).openapi('CreatedEndpoint')

export const endpointPageSchema = pageOf(endpointSchema).openapi('EndpointPage')

export const endpointParams = z.object({
  endpointId: uuidSchema.openapi({ param: { name: 'endpointId', in: 'path' } }),
})

export const endpointDeletedSchema = z.object({
  id: uuidSchema,
  open: z.int().openapi({ description: 'The number of open deliveries, which are cancelled.' }),
}).openapi('EndpointDeleted')
