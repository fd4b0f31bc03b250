import * as z from 'zod/mini'
import { endpointRules } from '../../../console/page/endpoints/endpoint_rules.ts'
import { formLimits } from '../../../console/page/endpoints/form_limits.ts'
import {
  headerChangeOf,
  headerProblemOf,
  type HeaderRow,
  headerRowsOf,
} from '../../../console/page/endpoints/headers.ts'
import { ApiError } from '../../../package/client/errors.ts'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import type { TextKey } from '../app/words.ts'

type Endpoint = Output<'getEndpoint'>
type Change = Input<'updateEndpoint'>['body']

/** The fields of the form. */
export interface Fields {
  url: string
  description: string
  types: string[]
  filter: string
  headers: HeaderRow[]
}

/** A text, with the bound that it names. */
export interface FieldError {
  key: TextKey
  n: number
}

export type FieldErrors = Partial<Record<keyof Fields, FieldError>>

export const emptyFields: Fields = { url: '', description: '', types: [], filter: '', headers: [] }

export function fieldsOf(endpoint: Endpoint): Fields {
  return {
    url: endpoint.url,
    description: endpoint.description,
    types: endpoint.eventTypes,
    filter: endpoint.filter ?? '',
    headers: headerRowsOf(endpoint.headerNames),
  }
}

/** The bounds of the headers. A test compares them with those of the API. */
export const headerLimits = { name: { maxLength: 100 }, value: { maxLength: 4096 } } as const

const typeLength = formLimits.eventTypes.items.maxLength

/** The rules say the key of a text. */
const rules = endpointRules({
  ...{ url: 'urlExpected', type: 'typeExpected', tooManyTypes: 'tooManyTypes' },
  tooLong: () => 'tooLong',
})

const atMost = ({ maxLength }: { maxLength: number }): z.core.$ZodCheck<string> =>
  z.maxLength(maxLength, 'tooLong')

/** The form as the API takes it. The API has the last word, for example about the host. */
const schema = z.object({
  url: rules.url,
  description: rules.description,
  types: z.pipe(z.array(z.string()).check(z.minLength(1, 'chooseType')), rules.types),
  filter: rules.filter,
  headers: z.array(z.object({
    name: z.string().check(z.trim(), atMost(headerLimits.name)),
    value: z.nullable(
      z.string().check(z.minLength(1, 'headerValue'), atMost(headerLimits.value)),
    ),
  })),
})

const withoutUrl = z.omit(schema, { url: true })

/** What the form knows to be wrong. */
export function errorsOf(fields: Fields, isUrl = true): FieldErrors {
  const errors: FieldErrors = {}
  const problem = headerProblemOf(fields.headers)
  if (problem !== null) {
    errors.headers = { key: problem === 'twice' ? 'headerTwice' : 'headerName', n: 0 }
  }
  const result = (isUrl ? schema : withoutUrl).safeParse({ ...fields, url: fields.url.trim() })
  for (const issue of result.error?.issues ?? []) {
    // SAFETY: the first element of a path is a member of the schema, and a message is one of its keys.
    const [name, key] = [issue.path[0] as keyof Fields, issue.message as TextKey]
    errors[name] ??= { key, n: boundOf(key, issue) }
  }
  return errors
}

/** The bound that a text names; 0 if it names none. */
function boundOf(key: TextKey, issue: z.core.$ZodIssue): number {
  if (key === 'typeExpected') return typeLength
  return issue.code === 'too_big' ? Number(issue.maximum) : 0
}

/** A new endpoint, as the API takes it. */
export function newEndpoint(fields: Fields): Input<'createEndpoint'>['body'] {
  const { url, description, types, filter, headers } = fields
  return {
    url: url.trim(),
    description,
    eventTypes: types,
    ...filter === '' ? {} : { filter },
    ...headers.length === 0 ? {} : {
      headers: Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value ?? ''])),
    },
  }
}

/** What differs from the endpoint, as a change of the API. */
export function changeOf(fields: Fields, endpoint: Endpoint): Change {
  const before = fieldsOf(endpoint)
  const isSame = (name: keyof Fields): boolean =>
    JSON.stringify(fields[name]) === JSON.stringify(before[name])
  const headers = headerChangeOf(fields.headers, endpoint.headerNames)
  return {
    ...isSame('url') ? {} : { url: fields.url.trim() },
    ...isSame('description') ? {} : { description: fields.description },
    ...isSame('types') ? {} : { eventTypes: fields.types },
    ...isSame('filter') ? {} : { filter: fields.filter === '' ? null : fields.filter },
    ...headers === undefined ? {} : { headers },
  }
}

/** The field that an error of the API is about. */
export function fieldOf(error: unknown): keyof Fields | null {
  if (!(error instanceof ApiError) || error.field === null) return null
  const [name = ''] = error.field.split('.')
  if (name === 'eventTypes') return 'types'
  return name === 'url' || name === 'description' || name === 'filter' || name === 'headers'
    ? name
    : null
}
