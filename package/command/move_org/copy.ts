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
  for (const part of parts) await copyPart(sides, part, isClosed, copied)
  return copied
}

/** A page of the source, and the last key before it. */
interface Place {
  part: string
  after: string
  page: Page
}

async function readPage({ org, source }: MoveSides, part: string, after: string): Promise<Place> {
  return {
    part,
    after,
    page: await source.call<Page>('read_move_page', { org_id: org, part, after }),
  }
}

async function copyPart(
  sides: MoveSides,
  part: string,
  isClosed: boolean,
  copied: Copied,
): Promise<void> {
  let reading = readPage(sides, part, '')
  while (true) {
    const place = await reading
    const next = place.page.more ? place.page.upto : null
    if (next !== null) {
      // The source reads while the target compares.
      reading = readPage(sides, part, next)
      reading.catch(() => {})
    }
    copied.rows += place.page.n
    copied.sent += await copyPage(sides, place, isClosed)
    if (next === null) return
  }
}

/** Makes the target equal to a page, and returns how many rows were sent. */
async function copyPage(
  { org, source, target, run }: MoveSides,
  { part, after, page }: Place,
  isClosed: boolean,
): Promise<number> {
  if (page.n === 0 && !isClosed) return 0
  const start = { org_id: org, part, after }
  let sent = 0
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
    sent += n
    // A page that changes meanwhile is compared again when the source is closed.
    isEqual = !isClosed || written.digest === digest
  }
  return sent
}
