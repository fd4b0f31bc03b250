import { copyParts, type MoveSides } from './copy.ts'
import { MoveError, type Turn } from './database.ts'
import { endInSource } from './end.ts'
import { readSides, type Sides, type SideStatus, type Totals, whyNot, wrongSides } from './sides.ts'

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
  pids: number[]
  leased: number
  unrouted: number
}

/** How often everything is compared again if something of the source has ended meanwhile. */
const mostComparisons = 5

/**
 * Moves an organisation, or continues a move from wherever it ended. Each step is one transaction
 * and may be repeated. Rejects with a MoveError.
 */
export async function moveOrg(input: MoveInput): Promise<void> {
  const { source, target, to, say } = input
  await takeMove(input)
  const sides = await readSides(input)
  const reasons = whyNot(sides, input)
  if (reasons.length > 0) throw new MoveError(reasons.join('\n'), 'refused')
  if (sides.source.status === 'finished') return say('The move is finished')
  const org_id = input.org
  const move_id = moveId(sides, input.newId)
  if (isAhead(sides)) {
    // The source was restored to a time before the switch.
    say('The target delivers already, and the source does not know it')
    await source.call('follow_target', { org_id, move_id }, turn(input))
  } else if (sides.source.status !== 'moved') {
    await begin(input, sides, move_id)
    await copyAndLeave(input, sides)
  }
  await target.call('open_target', { org_id, move_id }, turn(input))
  say(`The organisation is in ${to}: publish its events there`)
  // Old transactions find the source closed. Only --finish waits for them.
  await settle(input, true)
  const ended = await endInSource(input)
  say(`Open deliveries that have ended in the source: ${ended}. Their attempts say where they went`)
}

/** Only the last run that has taken a move can take its steps. */
function turn({ org, run }: MoveInput): Turn {
  return { org, run }
}

async function takeMove({ org, run, source, target }: MoveInput): Promise<void> {
  await target.call('take_move', { org_id: org, run })
  await source.call('take_move', { org_id: org, run })
}

/** Whether the target is live, and the source has not been left. */
function isAhead({ source, target }: Sides): boolean {
  return target.status === 'live' && target.move_id === source.move_id &&
    (source.status === 'copying' || source.status === 'closed')
}

async function begin(input: MoveInput, sides: Sides, move_id: string): Promise<void> {
  const { org, source, target, from, to } = input
  await target.call('begin_receiving', {
    org_id: org,
    move_id,
    other: from,
    database: sides.source.database,
  })
  await source.call('begin_leaving', {
    org_id: org,
    move_id,
    other: to,
    database: sides.target.database,
  })
  await takeMove(input)
}

/** Copies everything, and gives the organisation up in the source. */
async function copyAndLeave(input: MoveInput, { source: { status, parts } }: Sides): Promise<void> {
  const { org, source, say } = input
  if (status !== 'closed') {
    say('The endpoints are paused in the source. Events are accepted and wait')
    await settle(input)
    const first = await copyParts(input, parts, false)
    say(`Copied: ${first.sent} of ${first.rows} rows were missing in the target`)
    await source.call('close_source', { org_id: org }, turn(input))
  }
  say('Publishing is refused until the target delivers')
  try {
    await settle(input)
    const target = await compare(input, parts)
    await source.call('leave_source', { org_id: org, target }, turn(input))
  } catch (error) {
    say(
      'Nobody can publish for the organisation now: run the same command again, which continues, ' +
        'or with --undo',
    )
    throw error
  }
}

/** Makes both sides equal, and returns what the target has then. */
async function compare(input: MoveInput, parts: readonly string[]): Promise<Totals> {
  const { org, source, target, say } = input
  for (let tries = 1;; tries++) {
    const last = await copyParts(input, parts, true)
    say(`Compared: ${last.sent} of ${last.rows} rows had changed`)
    const there = (await target.call<SideStatus>('move_status', { org_id: org })).totals
    const here = (await source.call<SideStatus>('move_status', { org_id: org })).totals
    const isEqual = here.endpoints === there.endpoints && here.open === there.open &&
      here.dead_letters === there.dead_letters
    if (isEqual || tries === mostComparisons) return there
    // Such as a delivery that has expired.
    say('Something has ended in the source meanwhile')
  }
}

/** The id of a move that has begun, or a new one. */
function moveId({ source, target }: Sides, newId: () => string): string {
  const begun = [
    source.role === 'source' ? source.move_id : null,
    target.status === 'receiving' ? target.move_id : null,
  ]
  return begun.find((id) => id !== null) ?? newId()
}

/**
 * Waits until no transaction knows the status before, no delivery is in flight, and no event waits for routing.
 * `isLeft`: the switch is over, so transactions do not matter.
 */
async function settle(input: MoveInput, isLeft = false): Promise<void> {
  const { org, source, pause, waitMs, now, say } = input
  const end = now() + waitMs
  let said = ''
  while (true) {
    const seen = await source.call<Settled>('settle_move', { org_id: org }, turn(input))
    if (seen.settled || isLeft && seen.leased + seen.unrouted === 0) return
    const waits = waitsFor(seen)
    if (now() >= end) {
      throw new MoveError(
        `The source still has ${waits}`,
        'unsettled',
        'Run the same command again: it continues. pg_stat_activity has the process ids. Events ' +
          'are routed only while a worker or the function deliver of the source runs, and those ' +
          'in outbox.unroutable only after route_again()',
      )
    }
    if (waits !== said) say(`Waiting for: ${waits}`)
    said = waits
    await pause()
  }
}

function waitsFor({ transactions, pids, leased, unrouted }: Settled): string {
  const sessions = pids.length === 0 ? '' : ` (process ${pids.join(', ')} of its server)`
  return [
    ...transactions ? [`a transaction that began before this step${sessions}`] : [],
    ...leased > 0 ? [`deliveries in flight (${leased})`] : [],
    ...unrouted > 0 ? [`events that are not routed (${unrouted})`] : [],
  ].join(', ')
}

/** Ends a move: deletes what the source still has of the organisation, page by page. */
export async function finishMove(input: MoveInput): Promise<void> {
  await takeMove(input)
  await settle(input)
  while (await input.source.call<boolean>('finish_source', { org_id: input.org }, turn(input))) {
    // The next page.
  }
  input.say('The source has nothing of the organisation but its history')
}

/** Takes a move back that has not reached the point of no return. */
export async function undoMove(input: MoveInput): Promise<void> {
  const { org, source, target, say } = input
  await takeMove(input)
  const sides = await readSides(input)
  const reasons = whyNoUndo(sides, input)
  if (reasons.length > 0) throw new MoveError(reasons.join('\n'), 'refused')
  if (sides.target.status === 'receiving') {
    while (await target.call<boolean>('undo_receiving', { org_id: org }, turn(input))) {
      // The next page.
    }
  }
  if (sides.source.role === 'source') {
    await source.call('undo_leaving', { org_id: org }, turn(input))
  }
  say('The move is undone: the source delivers')
}

/** Why the move cannot be taken back; empty if it can. */
export function whyNoUndo(sides: Sides, input: Pick<MoveInput, 'org' | 'from' | 'to'>): string[] {
  const { source, target } = sides
  const isBegun = source.status === 'copying' || source.status === 'closed'
  if (source.status === 'moved' || source.status === 'finished' || isAhead(sides)) {
    return [
      'The target delivers already: move the organisation back instead' +
      (isAhead(sides) ? ', after this command without --undo' : ''),
    ]
  }
  if (!isBegun && target.status !== 'receiving') {
    return [
      `There is no move of ${input.org} from ${input.from} to ${input.to} that could be undone`,
    ]
  }
  return wrongSides(sides, input)
}
