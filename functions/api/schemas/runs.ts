import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'

const run = z.object({
  id: z.string(),
  kind: z.enum(['edge', 'worker']).openapi({
    description:
      'edge: an invocation of the function deliver; worker: a process on your own machine.',
  }),
  host: z.string().nullable().openapi({ description: 'The host of a worker.' }),
  pid: z.string().nullable().openapi({ description: 'The process id of a worker.' }),
  version: z.string().nullable().openapi({ description: 'The version of a worker.' }),
  startedAt: timeSchema.openapi({ description: 'When it started.' }),
  seenAt: timeSchema.openapi({ description: 'When it last called the database.' }),
  inFlight: z.int().nullable().openapi({ description: 'The deliveries that a worker holds.' }),
  delivered: z.int().nullable().openapi({
    description: 'How many a worker has delivered in the last 60 s.',
  }),
  status: z.enum(['live', 'draining', 'silent']).openapi({
    description:
      'draining: it claims nothing and finishes what is in flight; silent: it has not called for a while.',
  }),
})

/** The edge runs and workers of the project. */
export const runsSchema = z.object({
  time: timeSchema,
  alive: z.object({
    runs: z.int().openapi({ description: 'The number of live edge runs.' }),
    workers: z.int().openapi({ description: 'The number of live workers.' }),
  }).openapi({ description: 'The numbers of live runs.' }),
  data: z.array(run).openapi({ description: 'The first 200, the workers first.' }),
  problems: z.array(z.string()).openapi({
    description: 'Why one of them may get no deliveries.',
  }),
}).openapi('Runs')
