import { type Call, type MoveDatabase, MoveError } from '../move_org/database.ts'
import type { Move } from './plan.ts'

/** One of two databases that are compared. */
export interface Side {
  name: string
  call: Call
}

/** How many of the newest events of each database the other one has to have. */
const comparedEvents = 200

/** Among how many they are looked up, because the two take events in different orders. */
const knownEvents = 10_000

/**
 * Rejects with a MoveError unless each has all events that the other one has taken lately. Without a hold, it reads
 * what each has taken before what the other one knows, so that an event is not missed that both take meanwhile.
 */
export async function compareTaken(org_id: string, one: Side, other: Side): Promise<void> {
  const taken = [await takenBy(org_id, one), await takenBy(org_id, other)] as const
  for (const [at, has, lacks] of [[0, one, other], [1, other, one]] as const) {
    const known = new Set(
      await lacks.call<string[]>('carried_keys', { org_id, newest: knownEvents }),
    )
    const missing = taken[at].filter((key) => !known.has(key))
    if (missing.length === 0) continue
    throw new MoveError(
      known.size === 0
        ? `${lacks.name} has taken no event of ${org_id}, and ${has.name} has`
        : `${lacks.name} lacks events that ${has.name} has taken lately (${missing.length})`,
      'unequal',
      'Both have to take all events of the organisation: pause its endpoint in the source for a ' +
        `moment, and replay the dead letters of the consumer. The first key is ${missing[0]}`,
    )
  }
}

/** The keys of the newest events. Rejects if some have none: no comparison would find what the other one lacks. */
async function takenBy(org_id: string, { name, call }: Side): Promise<string[]> {
  const args = { org_id, newest: comparedEvents }
  const keyless = await call<number>('keyless_events', args)
  if (keyless === 0) return await call<string[]>('carried_keys', args)
  throw new MoveError(
    `${name} has events of ${org_id} that have no idempotency key, so the databases cannot be compared: ` +
      `${keyless} of the newest ${comparedEvents}`,
    'incomparable',
    `Publish events of ${org_id} in the source only, from where outhook consume brings each with a key to ` +
      `all databases of the organisation. Run the command again when ${name} has taken ${comparedEvents} ` +
      'events after the last one without a key',
  )
}

/** Compares the databases of each pair between which an endpoint moves, and returns what was found as sentences. */
export async function comparePairs(
  org: string,
  databases: ReadonlyMap<string, Pick<MoveDatabase, 'call'>>,
  moves: readonly Move[],
): Promise<string[]> {
  const found = new Map<string, string>()
  for (const { from, to } of moves) {
    const pair = [from, to].toSorted().join(' ')
    if (!found.has(pair)) {
      found.set(pair, await wouldWait(org, sideOf(databases, from), sideOf(databases, to)))
    }
  }
  return [...found.values()]
}

async function wouldWait(org: string, one: Side, other: Side): Promise<string> {
  try {
    await compareTaken(org, one, other)
    return `${one.name} and ${other.name} have taken the same events`
  } catch (error) {
    if (!(error instanceof MoveError) || error.code !== 'unequal') throw error
    return `It would wait: ${error.message}. ${error.hint}`
  }
}

/** A database by its name, outside of a transaction. Throws a MoveError if it was not given. */
export function sideOf<T extends Pick<MoveDatabase, 'call'>>(
  databases: ReadonlyMap<string, T>,
  name: string,
): T & Side {
  const database = databases.get(name)
  if (database === undefined) throw new MoveError(`There is no database ${name}`, 'refused')
  return { ...database, name }
}
