import { type MoveDatabase, MoveError } from './database.ts'

/** The two databases of a move, and the organisation. */
export interface MoveSides {
  org: string
  source: MoveDatabase
  target: MoveDatabase
  /** This run of the command: a UUID. */
  run: string
}

/** A page, as the SQL function read_move_page returns it. */
export interface Page {
  n: number
  upto: string | null
  more: boolean
  digest: string
  keys: string[]
  /** JSON as text: its integers may have more digits than a number. */
  items: string | null
}

/** What a comparison has found. */
export interface Copied {
  rows: number
  /** Rows of pages that differed and were sent. */
  sent: number
}

/** How often a page is sent again that changes while it is read. */
const mostTries = 5

/**
 * Compares all parts page by page, and sends each page that differs. With `isClosed`, nothing changes in the
 * source meanwhile, and both sides are equal afterwards. Otherwise it ends where the source ended when it came
 * there, and sends no page twice, so that it does not run after a publisher for ever.
 */
export async function copyParts(
  sides: MoveSides,
  parts: readonly string[],
  isClosed: boolean,
): Promise<Copied> {
  const copied = { rows: 0, sent: 0 }
  for (const part of parts) {
    let after: string | null = ''
    while (after !== null) after = await copyPage(sides, { part, after, isClosed }, copied)
  }
  return copied
}

interface Place {
  part: string
  after: string
  isClosed: boolean
}

/** Returns the last key of the page, or null after the last page. */
async function copyPage(
  { org, source, target, run }: MoveSides,
  { part, after, isClosed }: Place,
  copied: Copied,
): Promise<string | null> {
  const start = { org_id: org, part, after }
  const page = await source.call<Page>('read_move_page', start)
  copied.rows += page.n
  if (page.n === 0 && !isClosed) return null
  // The last page also removes what the target has behind it.
  const range = { ...start, upto: isClosed && !page.more ? null : page.upto }
  const there = await target.call<Page>('read_move_page', { ...range, whole: true })
  let isEqual = there.digest === page.digest
  for (let tries = 0; !isEqual; tries++) {
    if (tries === mostTries) {
      throw new MoveError(
        `The target cannot store a page of the part ${part} as the source has it`,
        'unequal',
        'Check whether a trigger or a constraint of yours changes rows of the schema outbox there',
      )
    }
    const { items, n, digest } = await source.call<Page>('read_move_page', {
      ...range,
      whole: true,
      with_items: true,
    })
    const written = await target.call<Page>(
      'write_move_page',
      { ...range, items: items ?? '[]' },
      { org, run },
    )
    copied.sent += n
    // A page that changes meanwhile is compared again when the source is closed.
    isEqual = !isClosed || written.digest === digest
  }
  return page.more ? page.upto : null
}
