import * as z from 'zod/mini'
import type { Input, Output } from '../../../package/client/operation_types.ts'

type Policy = Input<'setRetryConfig'>['body']
type Strategy = Policy['strategy']

/** The form of a retry policy, as texts; times are in seconds. `jitter`: `true` or `false`. */
export type RetryFields = Record<keyof typeof retryLimits | 'jitter', string> & {
  strategy: Strategy
}

/** The bounds of the fields. A test compares them with openapi.json. */
export const retryLimits = {
  delays: { minItems: 1, maxItems: 50, items: { minimum: 0, maximum: 604_800 } },
  baseDelay: { minimum: 0, maximum: 604_800 },
  factor: { minimum: 1, maximum: 100 },
  maxDelay: { minimum: 0, maximum: 604_800 },
  maxRetries: { minimum: 0, maximum: 50 },
} as const

const { delays: delayLimits, baseDelay, factor, maxDelay, maxRetries } = retryLimits

/** The fields of each strategy, besides those that all have. */
export const fieldsOfStrategy: Readonly<Record<Strategy, readonly (keyof typeof retryLimits)[]>> = {
  schedule: ['delays'],
  exponential: ['baseDelay', 'factor'],
  linear: ['baseDelay'],
  fixed: ['baseDelay'],
}

interface Bounds {
  minimum: number
  maximum: number
}

function numberFrom(
  { minimum, maximum }: Bounds,
  what = 'a number',
): z.ZodMiniType<number, string> {
  const error = `Expected ${what} from ${minimum} to ${maximum}`
  const form = what === 'a whole number' ? /^\d+$/ : /^\d+(\.\d+)?$/
  return z.pipe(
    z.string().check(z.regex(form, error)),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.number().check(z.minimum(minimum, error), z.maximum(maximum, error)),
    ),
  )
}

const delaysError = `Expected ${delayLimits.minItems} to ${delayLimits.maxItems} numbers`

const schemas = {
  delays: z.pipe(
    z.string(),
    z.pipe(
      z.transform((text: string) => text.split(/[\s,]+/).filter((one) => one !== '')),
      z.array(numberFrom(delayLimits.items, 'numbers')).check(
        z.minLength(delayLimits.minItems, delaysError),
        z.maxLength(delayLimits.maxItems, delaysError),
      ),
    ),
  ),
  baseDelay: numberFrom(baseDelay),
  factor: numberFrom(factor),
  maxDelay: numberFrom(maxDelay),
  maxRetries: numberFrom(maxRetries, 'a whole number'),
} as const

/** What is omitted if its field is empty. */
const optional: readonly (keyof typeof schemas)[] = ['factor', 'maxDelay', 'maxRetries']

/** The form of a policy. */
export function retryFieldsOf({ policy }: Output<'getRetryConfig'>): RetryFields {
  const { strategy, delays = [], jitter = false } = policy
  const text = (value: number | undefined): string => value === undefined ? '' : String(value)
  return {
    strategy,
    delays: delays.join(' '),
    baseDelay: text(policy.baseDelay),
    factor: text(policy.factor),
    maxDelay: text(policy.maxDelay),
    maxRetries: text(policy.maxRetries),
    jitter: String(jitter),
  }
}

export type RetryErrors = Partial<Record<keyof typeof schemas, string>>

/** The form as the API takes it; or the errors by field. The API has the last word. */
export function readRetry(
  fields: RetryFields,
): { policy: Policy; errors: null } | { policy: null; errors: RetryErrors } {
  const names = [...fieldsOfStrategy[fields.strategy], 'maxDelay', 'maxRetries'] as const
  const errors: RetryErrors = {}
  const members: Record<string, unknown> = {}
  for (const name of names) {
    if (fields[name].trim() === '' && optional.includes(name)) continue
    const result = schemas[name].safeParse(fields[name].trim())
    if (result.success) members[name] = result.data
    else errors[name] = result.error.issues[0]?.message ?? 'Expected another value'
  }
  if (Object.keys(errors).length > 0) return { policy: null, errors }
  // SAFETY: the members of this strategy, each by its schema.
  const policy = {
    strategy: fields.strategy,
    ...members,
    jitter: fields.jitter === 'true',
  } as Policy
  return { policy, errors: null }
}
