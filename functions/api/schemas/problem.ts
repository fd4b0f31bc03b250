import { z } from '../zod_openapi.ts'
import { errorCodes } from '../errors.ts'

/** Problem details (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string().openapi({ description: 'The kind of problem, for human readers.' }),
  status: z.int(),
  code: z.enum(Object.keys(errorCodes)).openapi({
    description: 'The kind of problem, for programs. Codes are stable.',
  }),
  detail: z.string().openapi({ description: 'What is wrong with this request.' }),
  field: z.string().optional().openapi({
    description: 'The invalid member, parameter or header.',
    example: 'retry.delays',
  }),
  remedy: z.string().optional().openapi({ description: 'How to correct the request.' }),
  saga: z.object({
    name: z.string(),
    step: z.int().openapi({ description: 'The number of the step, from 1.' }),
    function: z.string(),
    cause: z.string(),
    sqlState: z.string(),
  }).optional().openapi({ description: 'Only for `saga_failed`: the step that failed, and why.' }),
  requestId: z.string().openapi({ description: 'The id of the request in the log.' }),
}).openapi('Problem')
