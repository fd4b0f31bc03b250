import { z } from '../zod_openapi.ts'
import { eventTypeName, timeSchema, uuidSchema } from './common.ts'
import { deliveryStatus } from './deliveries.ts'

export const sagaSchema = z.object({
  name: z.string().openapi({ example: 'place_order' }),
  byTokens: z.boolean().openapi({ description: 'Whether tokens may execute it.' }),
  definedAt: timeSchema,
  steps: z.array(z.object({
    function: z.string().openapi({ example: 'shop.reserve_stock' }),
    eventType: eventTypeName,
  })),
}).openapi('Saga')

export const sagasSchema = z.object({ data: z.array(sagaSchema) }).openapi('Sagas')

export const executionParams = z.object({
  executionId: uuidSchema.openapi({ param: { name: 'executionId', in: 'path' } }),
})

/** The log of an execution. */
export const executionSchema = z.object({
  id: uuidSchema,
  executedAt: timeSchema,
  steps: z.array(z.object({
    eventId: uuidSchema,
    eventType: z.string(),
    createdAt: timeSchema,
    deliveries: z.array(z.object({
      endpointId: uuidSchema.nullable().openapi({
        description: 'Null if no endpoint was subscribed to the event.',
      }),
      status: z.union([deliveryStatus, z.literal('no_subscriber')]),
      reason: z.string().nullable(),
      attempt: z.int(),
      nextAttemptAt: timeSchema.nullable(),
      finishedAt: timeSchema.nullable(),
    })),
  })).openapi({ description: 'In the order of the steps.' }),
}).openapi('SagaExecution')
