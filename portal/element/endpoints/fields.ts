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

/** The bounds of the API. A test compares them with openapi.json. */
export const bounds = {
  url: formLimits.url.maxLength,
  description: formLimits.description.maxLength,
  types: formLimits.eventTypes.maxItems,
  type: 128,
  filter: formLimits.filter.maxLength,
  headerName: 100,
  headerValue: 4096,
} as const

const typePattern = /^(?:\*|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\.\*)?)$/

/** What the form knows to be wrong. The API has the last word, for example about the host. */
export function errorsOf(fields: Fields, isUrl = true): FieldErrors {
  const { url, description, types, filter, headers } = fields
  const found = {
    url: isUrl ? urlError(url.trim()) : null,
    description: lengthError(description, bounds.description),
    types: typesError(types),
    filter: lengthError(filter, bounds.filter),
    headers: headersError(headers),
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== null))
}

function lengthError(text: string, n: number): FieldError | null {
  return text.length > n ? { key: 'tooLong', n } : null
}

function urlError(url: string): FieldError | null {
  return /^https?:\/\/[^\s/]\S*$/.test(url)
    ? lengthError(url, bounds.url)
    : { key: 'urlExpected', n: 0 }
}

function typesError(types: string[]): FieldError | null {
  if (types.length === 0) return { key: 'chooseType', n: 0 }
  if (types.length > bounds.types) return { key: 'tooManyTypes', n: bounds.types }
  const isWrong = types.some((type) => !typePattern.test(type) || type.length > bounds.type)
  return isWrong ? { key: 'typeExpected', n: bounds.type } : null
}

function headersError(rows: HeaderRow[]): FieldError | null {
  const problem = headerProblemOf(rows)
  if (problem !== null) return { key: problem === 'twice' ? 'headerTwice' : 'headerName', n: 0 }
  if (rows.some(({ value }) => value === '')) return { key: 'headerValue', n: 0 }
  return rows.map(({ name, value }) =>
    lengthError(name.trim(), bounds.headerName) ?? lengthError(value ?? '', bounds.headerValue)
  ).find((error) => error !== null) ?? null
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
