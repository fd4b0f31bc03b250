import { z } from '@hono/zod-openapi'
import { errorCodes } from '../errors.ts'

/** Problem details (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string().openapi({ description: 'What kind of problem it is, for people.' }),
  status: z.int(),
  code: z.enum(Object.keys(errorCodes)).openapi({
    description: 'What kind of problem it is, for programs. Stable.',
  }),
  detail: z.string().openapi({ description: 'What is wrong with this request.' }),
  field: z.string().optional().openapi({
    description: 'The member, parameter or header that is wrong.',
    example: 'retry.delays',
  }),
  remedy: z.string().optional().openapi({ description: 'What can be done about it.' }),
  saga: z.object({
    name: z.string(),
    step: z.int().openapi({ description: 'From 1.' }),
    function: z.string(),
    cause: z.string(),
    sqlState: z.string(),
  }).optional().openapi({ description: 'Of `saga_failed`: the step that failed, and why.' }),
  requestId: z.string().openapi({ description: 'Names the request in the logs.' }),
}).openapi('Problem')
