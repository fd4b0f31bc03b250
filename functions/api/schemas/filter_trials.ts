import { z } from '../zod_openapi.ts'
import { timeSchema, uuidSchema } from './common.ts'

/** A filter to try before an endpoint has it. */
export const newFilterTrialSchema = z.strictObject({
  filter: z.string().min(1).max(1000).openapi({
    description: 'The filter, as an endpoint has it.',
    example: '$.total > 100',
  }),
  eventTypes: z.array(z.string().min(1).max(128)).min(1).max(100).default(['*']).openapi({
    description: 'Only events of these types: exact types, prefixes such as `order.*`, or `*`.',
    example: ['order.*'],
  }),
  limit: z.int().min(1).max(100).default(100).openapi({
    description: 'The maximum number of events to try.',
  }),
}).openapi('NewFilterTrial', { example: { filter: '$.total > 100', eventTypes: ['order.*'] } })

/** What a filter would have done with the newest events. */
export const filterTrialSchema = z.object({
  tried: z.int().openapi({ description: 'How many events the filter was tried on.' }),
  matched: z.int().openapi({ description: 'How many of them would be sent.' }),
  failed: z.int().openapi({
    description: 'For how many the filter fails, for example because it would take too long.',
  }),
  isWhole: z.boolean().openapi({
    description: 'Whether all stored events of these types were tried. A trial reads the newest ' +
      '5,000 events at most, and ends earlier if their payloads are large.',
  }),
  data: z.array(z.object({
    id: uuidSchema,
    type: z.string(),
    createdAt: timeSchema,
    matches: z.boolean().openapi({ description: 'Whether the event would be sent.' }),
    problem: z.string().nullable().openapi({
      description: 'Why the filter fails for this event; null if it does not fail.',
    }),
  })).openapi({ description: 'The events, the newest first.' }),
}).openapi('FilterTrial')
