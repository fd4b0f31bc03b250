import { oneLine, showTable } from '../api/table.ts'
import type { Answer, Asked } from './ask.ts'

/** A dead letter, as the SQL function dead_letter_json returns it. */
export interface Letter {
  id: string
  orgId: string
  eventId: string
  endpointId: string
  eventType: string
  attempt: number
  error: string
  failedAt: string
  status: string
}

/** Which dead letters are read. */
export interface LetterOptions {
  /** Only those of this organisation. */
  org?: string
  /** Only those with this status. */
  status?: string
  limit: number
}

/** The newest dead letters of one database, and whether there are more. */
export interface Letters {
  letters: Letter[]
  hasMore: boolean
}

type Page = { data: Letter[]; nextCursor: string | null }

/** The most rows of a page. */
const pageRows = 100

/** Reads the newest dead letters of a database, `limit` at most. */
export async function readLetters(
  database: Asked,
  { org, status, limit }: LetterOptions,
): Promise<Letters> {
  const letters: Letter[] = []
  let cursor: string | null = null
  do {
    const args = {
      status: status ?? null,
      cursor,
      limit: Math.min(pageRows, limit - letters.length),
    }
    const page: Page = org === undefined
      ? await database.call<Page>('list_all_dead_letters', args)
      : await database.call<Page>('list_dead_letters', { org_id: org, ...args })
    letters.push(
      ...page.data.map((letter) => org === undefined ? letter : { ...letter, orgId: org }),
    )
    cursor = page.nextCursor
  } while (cursor !== null && letters.length < limit)
  return { letters, hasMore: cursor !== null }
}

/** A dead letter with its database. */
export type PlacedLetter = { database: string } & Letter

/** The newest dead letters of all databases that have answered. */
export function mergeLetters(
  answers: readonly Answer<Letters>[],
  limit: number,
): { letters: PlacedLetter[]; hasMore: boolean } {
  const found = answers.flatMap((one) => one.ok ? [one] : [])
  const all = found.flatMap(({ name, value }) =>
    value.letters.map((letter) => ({ database: name, ...letter }))
  )
  // ISO times of one length have the order of their texts.
  const keyOf = ({ failedAt, id }: Letter): string => `${failedAt} ${id}`
  all.sort((left, right) => keyOf(left) < keyOf(right) ? 1 : -1)
  return {
    letters: all.slice(0, limit),
    hasMore: all.length > limit || found.some(({ value }) => value.hasMore),
  }
}

/** The dead letters as a table. */
export function showLetters(letters: readonly PlacedLetter[]): string {
  return showTable(
    ['failed', 'database', 'organisation', 'status', 'event type', 'attempts', 'id', 'error'],
    letters.map((letter) => [
      letter.failedAt,
      letter.database,
      letter.orgId,
      letter.status,
      letter.eventType,
      letter.attempt,
      letter.id,
      oneLine(letter.error, 200),
    ]),
  )
}
