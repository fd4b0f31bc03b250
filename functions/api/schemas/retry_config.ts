import { z } from '@hono/zod-openapi'

const seconds = z.number().min(0).max(604_800)

const common = {
  maxDelay: seconds.optional().openapi({ description: 'The longest delay, in seconds.' }),
  maxRetries: z.int().min(0).max(50).optional().openapi({
    description: 'Retries after the first attempt; default 5.',
  }),
  jitter: z.boolean().optional().openapi({
    description: 'Multiply each delay by a random 0.5 to 1.5, to spread retries.',
  }),
}

/** A retry policy; times are in seconds. */
export const retryPolicySchema = z.discriminatedUnion('strategy', [
  z.strictObject({
    strategy: z.literal('schedule'),
    delays: z.array(seconds).min(1).max(50).openapi({
      description: 'Seconds before each retry; the last one repeats.',
    }),
    ...common,
  }),
  z.strictObject({
    strategy: z.literal('exponential'),
    baseDelay: seconds,
    factor: z.number().min(1).max(100).optional().openapi({ description: 'Default 2.' }),
    ...common,
  }),
  z.strictObject({ strategy: z.literal('linear'), baseDelay: seconds, ...common }),
  z.strictObject({ strategy: z.literal('fixed'), baseDelay: seconds, ...common }),
]).openapi('RetryPolicy', {
  example: { strategy: 'schedule', delays: [1, 5, 15, 60, 300], maxRetries: 5, jitter: true },
})

/** The schedule of a policy. */
export const scheduleSchema = z.array(z.object({
  failure: z.int(),
  delaySeconds: z.number(),
  leastSeconds: z.number(),
  mostSeconds: z.number(),
  afterSeconds: z.number().openapi({ description: 'Since the first attempt, without jitter.' }),
}))

/** The policy in force; a policy set by SQL may have members that the API does not accept. */
export const retryConfigSchema = z.object({
  preset: z.boolean().openapi({
    description: "Whether the policy is the preset of the endpoint's kind.",
  }),
  policy: z.object({
    strategy: z.enum(['schedule', 'exponential', 'linear', 'fixed']),
    delays: z.array(z.number()).optional(),
    baseDelay: z.number().optional(),
    factor: z.number().optional(),
    maxDelay: z.number().optional(),
    maxRetries: z.int().optional(),
    jitter: z.boolean().optional(),
  }),
  schedule: scheduleSchema,
  version: z.int().openapi({ description: 'The version of the endpoint; the ETag.' }),
}).openapi('RetryConfig')

export const retryPreviewSchema = z.object({ schedule: scheduleSchema }).openapi('RetryPreview')
