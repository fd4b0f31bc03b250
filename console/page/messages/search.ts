import type { Input, Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import type { Span } from '../parts/span.tsx'
import { isNumber, plainNumber } from './phone.ts'

/** What the search of messages looks for: each has an index. */
export const messageSearches = [
  ['', 'Phone number'],
  ['dossier', 'Dossier'],
  ['correlation', 'Correlation id'],
  ['idempotency', 'Idempotency key'],
] as const

/** What is wrong with a search text; null if it can be searched. */
export function messageSearchProblem(kind: string, text: string): string | null {
  if (text === '') return null
  if (kind === '') return isNumber(plainNumber(text)) ? null : numberHelp
  return /^[\x21-\x7e]{1,128}$/.test(text)
    ? null
    : `${idNames[kind] ?? 'The id'} has up to 128 characters of ASCII, without spaces.`
}

const idNames: Readonly<Record<string, string>> = {
  dossier: 'The id of a dossier',
  correlation: 'A correlation id',
  idempotency: 'An idempotency key',
}

const numberHelp = 'A phone number has + and the country code, such as +12025550111.'

type Query = NonNullable<Input<'listMessages'>['query']>

interface Search {
  kind: string
  text: string
  status: string | null
  span: Span
}

/** What a search asks the API. */
export function messageFilters({ kind, text, status, span }: Search): Query {
  const { from, to } = span
  const names: Readonly<Record<string, keyof Query>> = {
    '': 'to',
    dossier: 'dossierId',
    correlation: 'correlationId',
    idempotency: 'idempotencyKey',
  }
  const name = names[kind] ?? 'to'
  return {
    ...text === '' ? {} : { [name]: name === 'to' ? plainNumber(text) : text },
    // SAFETY: the API refuses another status, and the page shows its error.
    ...status === null ? {} : { status: status as NonNullable<Query['status']> },
    ...from === undefined ? {} : { from },
    // The API has a number as "to".
    ...to === undefined ? {} : { until: to },
  }
}

/** A page of the messages that a search finds, newest first. */
export async function findMessages(
  { cursor, signal, ...search }: Search & { cursor: string | null; signal: AbortSignal },
): Promise<Output<'listMessages'>> {
  const page = cursor === null ? {} : { cursor }
  return await api.listMessages({ query: { ...messageFilters(search), ...page }, signal })
}
