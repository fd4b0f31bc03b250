import { z } from '../zod_openapi.ts'

const seconds = z.number().min(0).max(604_800)

const common = {
  maxDelay: seconds.optional().openapi({
    description: 'The longest delay, in seconds: not less than the shortest one.',
  }),
  maxRetries: z.int().min(0).max(50).optional().openapi({
    description: 'The number of retries after the first attempt; the default is 5.',
  }),
  jitter: z.boolean().optional().openapi({
    description:
      'Multiply each delay by a random factor from 0.5 to 1.5, so that retries are spread.',
  }),
}

/** A retry policy. Times are in seconds. */
export const retryPolicySchema = z.discriminatedUnion('strategy', [
  z.strictObject({
    strategy: z.literal('schedule'),
    delays: z.array(seconds).min(1).max(50).openapi({
      description: 'Seconds before each retry; the last value is repeated.',
    }),
    ...common,
  }),
  z.strictObject({
    strategy: z.literal('exponential'),
    baseDelay: seconds,
    factor: z.number().min(1).max(100).optional().openapi({ description: 'The default is 2.' }),
    ...common,
  }),
  z.strictObject({ strategy: z.literal('linear'), baseDelay: seconds, ...common }),
  z.strictObject({ strategy: z.literal('fixed'), baseDelay: seconds, ...common }),
]).openapi('RetryPolicy', {
  example: { strategy: 'schedule', delays: [1, 5, 15, 60, 300], maxRetries: 5, jitter: true },
})

/** The schedule of a policy, failure by failure. */
export const scheduleSchema = z.array(z.object({
  failure: z.int(),
  delaySeconds: z.number(),
  leastSeconds: z.number(),
  mostSeconds: z.number(),
  afterSeconds: z.number().openapi({
    description: 'Seconds since the first attempt, without jitter.',
  }),
}))

/** The policy in force. One set in SQL may have members that the API does not accept. */
export const shownPolicySchema = z.object({
  strategy: z.enum(['schedule', 'exponential', 'linear', 'fixed']),
  delays: z.array(z.number()).optional(),
  baseDelay: z.number().optional(),
  factor: z.number().optional(),
  maxDelay: z.number().optional(),
  maxRetries: z.int().optional(),
  jitter: z.boolean().optional(),
})

export const presetSchema = z.boolean().openapi({
  description: "Whether the policy is the preset of the endpoint's kind.",
})

/** The policy in force, with its schedule. */
export const retryConfigSchema = z.object({
  preset: presetSchema,
  policy: shownPolicySchema,
  schedule: scheduleSchema,
  version: z.int().openapi({
    description: 'The version of the endpoint. The ETag has the same number.',
  }),
}).openapi('RetryConfig')

export const retryPreviewSchema = z.object({ schedule: scheduleSchema }).openapi('RetryPreview')
