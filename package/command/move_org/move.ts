import { copyParts, type MoveSides, type Page } from './copy.ts'
import { MoveError } from './database.ts'

/** One side, as the SQL function move_status returns it. */
export interface SideStatus {
  move_id: string | null
  role: 'source' | 'target' | null
  status: 'copying' | 'closed' | 'moved' | 'finished' | 'receiving' | 'live' | null
  other: string | null
  version: string
  key_hash: string
  parts: string[]
  blockers: string[]
  totals: Totals
}

/** How much an organisation has. */
export interface Totals {
  endpoints: number
  open: number
  dead_letters: number
}

/** What a move needs besides the two databases. */
export interface MoveInput extends MoveSides {
  /** The names that publishers know the projects by. */
  from: string
  to: string
  newId(): string
  /** Waits between two looks at what has not settled. */
  pause(): Promise<void>
  /** The longest wait in milliseconds, by `now`. */
  waitMs: number
  now(): number
  say(text: string): void
}

/** The result of settle_move. */
interface Settled {
  settled: boolean
  transactions: boolean
  leased: number
  unrouted: number
}

/** Reads both sides. Rejects with a MoveError. */
export async function readSides(
  { org, source, target }: MoveSides,
): Promise<{ source: SideStatus; target: SideStatus }> {
  return {
    source: await source.call<SideStatus>('move_status', { org_id: org }),
    target: await target.call<SideStatus>('move_status', { org_id: org }),
  }
}

/** Why the organisation cannot move between these sides; empty if it can, or if its move has begun. */
export function whyNot(
  { source, target }: { source: SideStatus; target: SideStatus },
): string[] {
  const reasons: string[] = []
  if (source.version !== target.version) {
    reasons.push(
      `The source has Outhook ${source.version} and the target ${target.version}: upgrade one`,
    )
  }
  if (source.key_hash !== target.key_hash) {
    reasons.push('The two servers hash partition keys differently')
  }
  if (source.parts.join() !== target.parts.join()) {
    reasons.push('The two databases have different modules')
  }
  if (source.status === null || source.status === 'live') reasons.push(...source.blockers)
  if (source.role === 'source' && target.role === 'target' && source.move_id !== target.move_id) {
    reasons.push('The two databases take part in different moves of the organisation')
  }
  return reasons
}

/**
 * Moves an organisation, or continues a move from wherever it ended. Each step is one transaction
 * and may be repeated. Rejects with a MoveError.
 */
export async function moveOrg(input: MoveInput): Promise<void> {
  const { org, source, target, from, to, say } = input
  const sides = await readSides(input)
  const reasons = whyNot(sides)
  if (reasons.length > 0) throw new MoveError(reasons.join('\n'), 'refused')
  if (sides.source.status === 'finished') return say('The move is finished')
  const isMoved = sides.source.status === 'moved'
  const id = moveId(sides, input.newId)
  if (!isMoved) {
    await target.call('begin_receiving', { org_id: org, move_id: id, other: from })
    await source.call('begin_leaving', { org_id: org, move_id: id, other: to })
    if (sides.source.status !== 'closed') {
      say('The endpoints are paused in the source. Events are accepted and wait')
      await settle(input)
      const first = await copyParts(input, sides.source.parts, false)
      say(`Copied: ${first.sent} of ${first.rows} rows were missing in the target`)
      await source.call('close_source', { org_id: org })
    }
    say('Publishing is refused until the target delivers')
    await settle(input)
    const last = await copyParts(input, sides.source.parts, true)
    say(`Compared: ${last.sent} of ${last.rows} rows had changed`)
    const { totals } = await target.call<SideStatus>('move_status', { org_id: org })
    await source.call('leave_source', { org_id: org, target: totals })
  }
  await target.call('open_target', { org_id: org, move_id: id })
  say(`The organisation is in ${to}: publish its events there`)
  await settle(input)
  const ended = await endInSource(input)
  say(`${ended} deliveries have ended in the source. Their attempts say where they went`)
}

/** The id of a move that has begun, or a new one. */
function moveId(
  { source, target }: { source: SideStatus; target: SideStatus },
  newId: () => string,
): string {
  const begun = [
    source.role === 'source' ? source.move_id : null,
    target.status === 'receiving' ? target.move_id : null,
  ]
  return begun.find((id) => id !== null) ?? newId()
}

/** Waits until no transaction knows the status before, and no delivery is in flight. */
async function settle({ org, source, pause, waitMs, now, say }: MoveInput): Promise<void> {
  const end = now() + waitMs
  let said = ''
  while (true) {
    const seen = await source.call<Settled>('settle_move', { org_id: org })
    if (seen.settled) return
    const waits = [
      ...seen.transactions ? ['a transaction that began before this step'] : [],
      ...seen.leased > 0 ? [`${seen.leased} deliveries in flight`] : [],
      ...seen.unrouted > 0 ? [`${seen.unrouted} events that are not routed`] : [],
    ].join(', ')
    if (now() >= end) {
      throw new MoveError(
        `The source still has ${waits}`,
        'unsettled',
        'Run the same command again: it continues. Events are routed only while a worker or the ' +
          'function deliver of the source runs',
      )
    }
    if (waits !== said) say(`Waiting for: ${waits}`)
    said = waits
    await pause()
  }
}

/** Ends the open deliveries of the source. An event that came too late for the comparison is added. */
async function endInSource({ org, source, target }: MoveInput): Promise<number> {
  let ended = 0
  while (true) {
    const page = await source.call<Page>('read_move_page', { org_id: org, part: 'event' })
    if (page.n === 0) return ended
    const unknown = await target.call<string[]>('unknown_events', { org_id: org, keys: page.keys })
    let { keys } = page
    if (unknown.length > 0) {
      const full = await source.call<Page>('read_move_page', {
        org_id: org,
        part: 'event',
        with_items: true,
      })
      await target.call('add_late_events', { org_id: org, items: full.items ?? '[]' })
      keys = full.keys
    }
    ended += await source.call<number>('end_moved_events', { org_id: org, keys })
  }
}

/** Ends a move: deletes what the source still has of the organisation. */
export async function finishMove(input: MoveInput): Promise<void> {
  await settle(input)
  await input.source.call('finish_source', { org_id: input.org })
  input.say('The source has nothing of the organisation but its history')
}

/** Takes a move back that has not reached the point of no return. */
export async function undoMove(input: MoveInput): Promise<void> {
  const { org, source, target, say } = input
  const { source: from, target: to } = await readSides(input)
  if (from.status === 'moved' || from.status === 'finished') {
    throw new MoveError(
      'The target delivers already: move the organisation back instead',
      'refused',
    )
  }
  if (to.role === 'target' && from.role === 'source' && to.move_id !== from.move_id) {
    throw new MoveError('The two databases take part in different moves', 'refused')
  }
  if (to.status === 'receiving') {
    while (await target.call<boolean>('undo_receiving', { org_id: org })) { /* the next page */ }
  }
  if (from.role === 'source') await source.call('undo_leaving', { org_id: org })
  say('The move is undone: the source delivers')
}
