import type { Input, Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
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

/** A page of the messages that a search finds, newest first. */
export async function findMessages(
  { kind, text, status, from, cursor, signal }: {
    kind: string
    text: string
    status: string | null
    from: string | undefined
    cursor: string | null
    signal: AbortSignal
  },
): Promise<Output<'listMessages'>> {
  const names: Readonly<Record<string, keyof Query>> = {
    '': 'to',
    dossier: 'dossierId',
    correlation: 'correlationId',
    idempotency: 'idempotencyKey',
  }
  const name = names[kind] ?? 'to'
  return await api.listMessages({
    query: {
      ...text === '' ? {} : { [name]: name === 'to' ? plainNumber(text) : text },
      // SAFETY: the API refuses another status, and the page shows its error.
      ...status === null ? {} : { status: status as NonNullable<Query['status']> },
      ...from === undefined ? {} : { from },
      ...cursor === null ? {} : { cursor },
    },
    signal,
  })
}
