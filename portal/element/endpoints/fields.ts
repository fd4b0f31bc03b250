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

export type FieldErrors = Partial<Record<keyof Fields, TextKey>>

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

/** What the form knows to be wrong. The API has the last word, for example about the host. */
export function errorsOf({ url, types, headers }: Fields, isUrl = true): FieldErrors {
  return {
    ...isUrl && !/^https?:\/\/[^\s/]/.test(url) ? { url: 'urlExpected' as const } : {},
    ...types.length === 0 ? { types: 'chooseType' as const } : {},
    ...headerErrorOf(headers),
  }
}

function headerErrorOf(rows: HeaderRow[]): FieldErrors {
  const problem = headerProblemOf(rows)
  return problem === null ? {} : { headers: problem === 'twice' ? 'headerTwice' : 'headerName' }
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
