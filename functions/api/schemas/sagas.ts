import { z } from '../zod_openapi.ts'
import { eventTypeName, uuidSchema } from './common.ts'

export const sagaParams = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'is not 1 to 64 letters, digits, _ and -')
    .openapi({ param: { name: 'name', in: 'path' }, example: 'place_order' }),
})

/** The context that the saga starts with: the whole body. */
export const sagaContextSchema = z.record(z.string(), z.unknown()).openapi('SagaContext', {
  description: 'The context of the first step. Each step adds its result to the context.',
  example: { order: 7, customer: 'ada', item: 'lamp', quantity: 2 },
})

/** The result of an execution. */
export const sagaResultSchema = z.object({
  id: uuidSchema.openapi({
    description: 'The id of the saga, and the correlation id of its events.',
  }),
  saga: z.string(),
  steps: z.array(z.object({
    function: z.string(),
    eventType: eventTypeName,
    eventId: uuidSchema,
  })),
  eventIds: z.array(uuidSchema),
  context: z.record(z.string(), z.unknown()).openapi({
    description: 'The context after the last step.',
  }),
  repeated: z.boolean().openapi({
    description: 'Whether this is the result of an earlier execution with the same key.',
  }),
}).openapi('SagaResult')

/** The same from the database. The context is text, so that its numbers stay exact. */
export const storedSagaResultSchema = sagaResultSchema.extend({ context: z.string() })
