import * as z from 'zod/mini'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import { formLimits } from './form_limits.ts'

type Endpoint = Output<'getEndpoint'>
type Change = Input<'updateEndpoint'>['body']

/** The fields of the form, as texts. */
export type FormFields = {
  [Name in keyof typeof formLimits]: string
}

const typePattern = /^(?:\*|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\.\*)?)$/

function integer(name: 'timeoutMs' | 'maxInFlight'): z.ZodMiniType<number, string> {
  const { minimum, maximum } = formLimits[name]
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

const optionalText = (maximum: number): z.ZodMiniType<string, string> =>
  z.string().check(z.maxLength(maximum, `Expected at most ${maximum} characters`))

const { ratePerSecond: rate } = formLimits

/** The form as the API takes it. The API has the last word, for example about the host of a URL. */
const schema = z.object({
  url: z.string().check(
    z.regex(/^https?:\/\/\S+$/, 'Expected a URL such as https://example.com/webhooks'),
    z.maxLength(formLimits.url.maxLength, 'The URL is too long'),
  ),
  description: optionalText(formLimits.description.maxLength),
  eventTypes: z.pipe(
    z.string(),
    z.pipe(
      z.transform((text: string) => text.split(/[\s,]+/).filter((type) => type !== '')),
      z.array(
        z.string().check(z.regex(typePattern, 'Expected types such as order.paid, order.* or *')),
      )
        .check(z.maxLength(formLimits.eventTypes.maxItems, 'Expected at most 100 event types')),
    ),
  ),
  filter: optionalText(formLimits.filter.maxLength),
  timeoutMs: integer('timeoutMs'),
  maxInFlight: integer('maxInFlight'),
  ratePerSecond: z.union([
    z.literal(''),
    bounded(/^\d+(\.\d+)?$/, rate.minimum, rate.maximum, 'nothing, or a number'),
  ]),
})

/** The form for the settings of an endpoint. */
export function fieldsOf(endpoint: Endpoint): FormFields {
  return {
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: endpoint.eventTypes.join(' '),
    filter: endpoint.filter ?? '',
    timeoutMs: String(endpoint.timeoutMs),
    maxInFlight: String(endpoint.maxInFlight),
    ratePerSecond: endpoint.ratePerSecond === null ? '' : String(endpoint.ratePerSecond),
  }
}

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
  const { filter, ratePerSecond, ...rest } = result.data
  const all: Required<Pick<Change, keyof FormFields>> = {
    ...rest,
    filter: filter === '' ? null : filter,
    ratePerSecond: ratePerSecond === '' ? null : ratePerSecond,
  }
  // SAFETY: the entries of an object with these members.
  const names = Object.keys(fields) as (keyof FormFields)[]
  const changed = names.filter((name) => fields[name] !== before[name])
  return { change: Object.fromEntries(changed.map((name) => [name, all[name]])), errors: null }
}

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

/** The fields of a new endpoint. The API has a default for each of the others. */
export type NewFields = Pick<FormFields, 'url' | 'description' | 'eventTypes' | 'filter'>

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
