import * as z from 'zod/mini'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import { endpointRules } from './endpoint_rules.ts'
import { type BreakerField, fieldsOf, type FormFields, type NewFields } from './form_fields.ts'
import { breakerLimits, formChoices, formLimits } from './form_limits.ts'

type Endpoint = Output<'getEndpoint'>
type Change = Input<'updateEndpoint'>['body']

const rules = endpointRules({
  url: 'Expected a URL such as https://example.com/webhooks',
  type: 'Expected types such as order.paid, order.* or *',
  tooManyTypes: `Expected at most ${formLimits.eventTypes.maxItems} event types`,
  tooLong: (maximum) => `Expected at most ${maximum} characters`,
})

/** The bounds of a number, both included. */
interface Bounds {
  minimum: number
  maximum: number
}

function integer({ minimum, maximum }: Bounds): z.ZodMiniType<number, string> {
  return bounded(/^\d+$/, minimum, maximum, 'a whole number')
}

function bounded(
  form: RegExp,
  minimum: number,
  maximum: number,
  what: string,
): z.ZodMiniType<number, string> {
  const error = `Expected ${what} from ${minimum} to ${maximum}`
  return z.pipe(
    z.string().check(z.regex(form, error)),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.number().check(z.minimum(minimum, error), z.maximum(maximum, error)),
    ),
  )
}

const truth = z.pipe(
  z.enum(['true', 'false']),
  z.transform((text: 'true' | 'false') => text === 'true'),
)

const { ratePerSecond: rate } = formLimits

/** The form as the API takes it. The API has the last word, for example about the host of a URL. */
const schema = z.object({
  url: rules.url,
  description: rules.description,
  eventTypes: z.pipe(
    z.string(),
    z.pipe(
      z.transform((text: string) => text.split(/[\s,]+/).filter((type) => type !== '')),
      rules.types,
    ),
  ),
  filter: rules.filter,
  timeoutMs: integer(formLimits.timeoutMs),
  maxInFlight: integer(formLimits.maxInFlight),
  ratePerSecond: z.union([
    z.literal(''),
    bounded(/^\d+(\.\d+)?$/, rate.minimum, rate.maximum, 'nothing, or a number'),
  ]),
  rateBurst: integer(formLimits.rateBurst),
  quantum: integer(formLimits.quantum),
  payload: z.enum(formChoices.payload),
  onDeadLetter: z.enum(formChoices.onDeadLetter),
  retry4xx: truth,
  breakerEnabled: truth,
  breakerThreshold: integer(breakerLimits.threshold),
  breakerOpenMs: integer(breakerLimits.openMs),
})

export type FormErrors = Partial<Record<keyof FormFields, string>>

/** What differs from the endpoint, as a change of the API; or the errors by field. */
export function readForm(
  fields: FormFields,
  endpoint: Endpoint,
): { change: Change; errors: null } | { change: null; errors: FormErrors } {
  const before = fieldsOf(endpoint)
  // A kind that is not an HTTP request may have an address of another form, which stays.
  const shown = fields.url === before.url ? { ...fields, url: 'https://unchanged.example' } : fields
  const result = schema.safeParse(shown)
  if (!result.success) return { change: null, errors: errorsOf(result.error.issues) }
  const { filter, ratePerSecond, breakerEnabled, breakerThreshold, breakerOpenMs, ...rest } =
    result.data
  const isChanged = ([name]: [string, unknown]): boolean =>
    // SAFETY: the names are members of both.
    fields[name as keyof FormFields] !== before[name as keyof FormFields]
  const changed = Object.entries({
    ...rest,
    filter: filter === '' ? null : filter,
    ratePerSecond: ratePerSecond === '' ? null : ratePerSecond,
  }).filter(isChanged)
  // SAFETY: these are the fields of the breaker.
  const breaker = Object.entries({ breakerEnabled, breakerThreshold, breakerOpenMs })
    .filter(isChanged)
    .map(([name, value]) => [breakerMembers[name as BreakerField], value])
  return {
    change: {
      ...Object.fromEntries(changed),
      ...breaker.length === 0 ? {} : { breaker: Object.fromEntries(breaker) },
    },
    errors: null,
  }
}

const breakerMembers = {
  breakerEnabled: 'enabled',
  breakerThreshold: 'threshold',
  breakerOpenMs: 'openMs',
} as const

function errorsOf(issues: readonly { path: PropertyKey[]; message: string }[]): FormErrors {
  const errors: FormErrors = {}
  for (const { path, message } of issues) {
    // SAFETY: the first element of a path is a member of the schema.
    const name = path[0] as keyof FormFields
    errors[name] ??= name === 'ratePerSecond'
      ? `Expected nothing, or a number from ${rate.minimum} to ${rate.maximum}`
      : message
  }
  return errors
}

const newSchema = z.pick(schema, { url: true, description: true, eventTypes: true, filter: true })

/** A new endpoint as the API takes it; or the errors by field. */
export function readNew(
  fields: NewFields,
): { body: Input<'createEndpoint'>['body']; errors: null } | { body: null; errors: FormErrors } {
  const result = newSchema.safeParse(fields)
  if (!result.success) return { body: null, errors: errorsOf(result.error.issues) }
  const { filter, ...rest } = result.data
  if (rest.eventTypes.length === 0) {
    return { body: null, errors: { eventTypes: 'Expected at least one type; * is all' } }
  }
  return { body: filter === '' ? rest : { ...rest, filter }, errors: null }
}

/** Which events a job sends: the types, and the filter; or the errors by field. */
export function readSelection(
  fields: Pick<FormFields, 'eventTypes' | 'filter'>,
): { selection: { eventTypes?: string[]; filter?: string }; errors: null } | {
  selection: null
  errors: FormErrors
} {
  const result = z.pick(schema, { eventTypes: true, filter: true }).safeParse(fields)
  if (!result.success) return { selection: null, errors: errorsOf(result.error.issues) }
  const { eventTypes, filter } = result.data
  return {
    selection: {
      ...eventTypes.length === 0 ? {} : { eventTypes },
      ...filter.trim() === '' ? {} : { filter },
    },
    errors: null,
  }
}
