import { type MoveDatabase, MoveError } from '../move_org/database.ts'
import { compareTaken, sideOf } from './compare.ts'
import { batchesOf, type Move, type PlaceStatus, type Plan, planMoves } from './plan.ts'

/** What the moves of endpoints need. */
export interface SpreadInput {
  org: string
  /** All databases that get the events of the organisation, by the names of the routes. */
  databases: ReadonlyMap<string, MoveDatabase>
  /** Those in which endpoints belong. */
  names: readonly string[]
  /** Waits between two looks at what the databases have taken. */
  pause(): Promise<void>
  /** The longest wait in milliseconds, by `now`. */
  waitMs: number
  now(): number
  say(text: string): void
}

/**
 * What ends by itself: the databases have not taken the same events, something is not routed or has been
 * delivered again, an endpoint was deleted, a lock was not granted in time, a deadlock, a transaction was idle for
 * too long. The server then ends the connection, and the driver says only that.
 */
const passing = ['unequal', 'OH004', 'OH002', '55P03', '40P01', '25P03', 'CONNECTION_CLOSED']

/** Reads what each database has. Rejects with a MoveError. */
export async function readPlaces(
  { org, databases }: Pick<SpreadInput, 'org' | 'databases'>,
): Promise<Map<string, PlaceStatus>> {
  const entries = [...databases].map(async ([name, { call }]) =>
    [name, await call<PlaceStatus>('spread_status', { org_id: org })] as const
  )
  return new Map(await Promise.all(entries))
}

/**
 * Moves endpoints to the databases where they belong, or continues wherever an earlier run ended. Rejects with a
 * MoveError. Resolves with what is left.
 */
export async function spread(input: SpreadInput): Promise<Plan> {
  const before = planMoves(await readPlaces(input), input.names)
  for (const arrival of before.arrivals) await finishArrival(input, arrival)
  const refused = await moveAll(input, before.moves)
  if (refused.length > 0) {
    // Most are in use for a moment only. Not more often: publishers wait each time.
    await input.pause()
    const moves = await stillMoving(input, refused.map(({ move }) => move))
    for (const { error } of await moveAll(input, moves)) {
      input.say(`Not moved: ${error.message}. ${error.hint ?? ''}`)
    }
  }
  return planMoves(await readPlaces(input), input.names)
}

/** An endpoint that cannot move now. The others of its batch can. */
class EndpointError extends Error {
  readonly move: Move
  readonly error: MoveError

  constructor(move: Move, error: MoveError) {
    super(error.message)
    this.move = move
    this.error = error
  }
}

/** Returns those that cannot move now. */
async function moveAll(input: SpreadInput, moves: readonly Move[]): Promise<EndpointError[]> {
  const refused: EndpointError[] = []
  for (const batch of batchesOf(moves)) refused.push(...await moveWhenEqual(input, batch))
  return refused
}

/**
 * What a run that was killed has left behind. An endpoint that has not left begins again, if it still moves. One that
 * somebody has locked stays on its way.
 */
async function finishArrival(input: SpreadInput, { id, from, to }: Move): Promise<void> {
  const finished = sideOf(input.databases, from).within(async (source) => {
    // Until the end of the transaction no other run moves it.
    const hasLeft = await source<boolean>('has_left', { endpoint_id: id, to })
    await sideOf(input.databases, to)
      .call(hasLeft ? 'open_endpoint' : 'drop_arrival', { endpoint_id: id, from })
    input.say(
      hasLeft
        ? `${id} has moved from ${from} to ${to}`
        : `${id} has not left ${from}: ${to} forgets it`,
    )
  })
  await finished.catch((error) => {
    if (!(error instanceof MoveError) || error.code !== '55P03') throw error
    input.say(`${id} is still on its way from ${from} to ${to}: ${error.message}`)
  })
}

/**
 * Tries until both databases have taken and routed the same events. Returns what cannot move now, because it has an
 * open delivery or somebody else has locked it: the others do not wait for it.
 */
async function moveWhenEqual(
  input: SpreadInput,
  batch: readonly Move[],
): Promise<EndpointError[]> {
  const end = input.now() + input.waitMs
  const refused: EndpointError[] = []
  let said = ''
  for (let isAgain = false;; isAgain = true) {
    try {
      const rest = batch.filter((move) => !refused.some((one) => one.move.id === move.id))
      const moves = isAgain ? await stillMoving(input, rest) : rest
      await moveBatch(input, moves)
      return refused
    } catch (error) {
      if (error instanceof EndpointError) {
        refused.push(error)
        continue
      }
      const isPassing = error instanceof MoveError && passing.includes(error.code)
      if (!isPassing || input.now() >= end) throw error
      if (error.message !== said) input.say(`Waiting: ${error.message}`)
      said = error.message
    }
    await input.pause()
  }
}

/** What of a batch has to be moved after an error. What has left its database before the error, arrives. */
async function stillMoving(input: SpreadInput, batch: readonly Move[]): Promise<Move[]> {
  const ids = new Set(batch.map(({ id }) => id))
  const { moves, arrivals } = planMoves(await readPlaces(input), input.names)
  const moving = new Set(moves.map(({ id }) => id))
  for (const arrival of arrivals) {
    if (ids.has(arrival.id) && !moving.has(arrival.id)) await finishArrival(input, arrival)
  }
  return moves.filter(({ id }) => ids.has(id))
}

/**
 * Nobody publishes while both databases are held, so they are compared before, and again when nothing changes. The
 * target commits before the source: whenever this ends, one of them delivers, and none loses an event.
 */
async function moveBatch(input: SpreadInput, batch: readonly Move[]): Promise<void> {
  const [first] = batch
  if (first === undefined) return
  const { from, to } = first
  const here = sideOf(input.databases, from)
  const there = sideOf(input.databases, to)
  await compareTaken(input.org, here, there)
  await here.within(async (source) => {
    await there.within(async (target) => {
      await source('hold_events', {})
      await target('hold_events', {})
      await compareTaken(input.org, { name: from, call: source }, { name: to, call: target })
      // What they refuse after this is one endpoint.
      for (const call of [source, target]) await call('check_spread', { org_id: input.org })
      for (const move of batch) {
        // Not what the target refuses: it removes what was deleted there within a minute.
        const item = await source<string>('send_endpoint', { endpoint_id: move.id })
          .catch((error) => {
            const isRefused = error instanceof MoveError && error.code === 'OH004'
            throw isRefused ? new EndpointError(move, error) : error
          })
        await target('receive_endpoint', { org_id: input.org, from, item })
      }
    })
    for (const { id } of batch) await source('leave_endpoint', { endpoint_id: id, to })
  })
  for (const { id } of batch) {
    await there.call('open_endpoint', { endpoint_id: id, from })
    input.say(`${id} has moved from ${from} to ${to}`)
  }
}
