import type { AddressPolicy } from '../../connect/address.ts'
import type { Outcome } from '../../contract/contract.ts'
import { type Failure, isBroken, late } from './outcome.ts'

/** How a kind of broker is connected to. */
export type Dialler<Target, Connection> = {
  /** Connects or says why not; it does not reject. What takes longer than `dialMs` counts as failed. */
  dial(target: Target, policy: AddressPolicy): Promise<Connection | Failure>
  close(connection: Connection): Promise<void>
  isOpen(connection: Connection): boolean
}

/** One connection per broker and user, made when it is needed and shared by all deliveries. */
export type Connections<Target, Connection> = {
  /**
   * Does `work` with the connection. One that a failure shows to be broken is not given out again;
   * a broker that could not be connected to is left alone for a second.
   */
  use(
    target: Target,
    policy: AddressPolicy,
    work: (connection: Connection) => Promise<Outcome>,
  ): Promise<Outcome>
  /** Closes what nothing uses, and the rest as soon as nothing does. */
  rest(): Promise<void>
}

type Entry<Connection> = {
  policy: AddressPolicy
  connecting: Promise<{ connection: Connection } | { failure: Failure; at: number }>
  users: number
  isRetired: boolean
}

const coolDownMs = 1_000
/** A broker that says nothing to its last word is left to itself after so long. */
const closeMs = 2_000

type Options = {
  /** Milliseconds that only grow. */
  now?: () => number
  dialMs?: number
}

/** Makes an empty store. */
export function createConnections<Target, Connection>(
  { dial, close, isOpen }: Dialler<Target, Connection>,
  { now = () => performance.now(), dialMs = 10_000 }: Options = {},
): Connections<Target, Connection> {
  // The key holds credentials: it stays in this memory.
  const entries = new Map<string, Entry<Connection>>()

  async function entryOf(target: Target, policy: AddressPolicy): Promise<Entry<Connection>> {
    const key = JSON.stringify(target)
    const known = entries.get(key)
    if (known !== undefined && known.policy === policy) {
      const state = await known.connecting
      const isUsable = 'connection' in state
        ? isOpen(state.connection)
        : now() - state.at < coolDownMs
      if (isUsable && !known.isRetired) return known
    }
    // Another delivery may have begun anew while this one looked.
    const current = entries.get(key)
    if (current !== undefined && current !== known) return current
    if (current !== undefined) retire(current)
    const entry: Entry<Connection> = { policy, connecting: open(), users: 0, isRetired: false }
    entries.set(key, entry)
    return entry

    async function open(): Promise<{ connection: Connection } | { failure: Failure; at: number }> {
      const dialling = dial(target, policy)
      const dialled = await orAfter(dialMs, dialling)
      if (dialled === null) {
        // A client may wait for ever for a handshake that was cut off, and everybody with it.
        void dialling.then((made) => isFailure(made) ? undefined : close(made))
        return { failure: late(), at: now() }
      }
      return isFailure(dialled) ? { failure: dialled, at: now() } : { connection: dialled }
    }
  }

  async function use(
    target: Target,
    policy: AddressPolicy,
    work: (connection: Connection) => Promise<Outcome>,
  ): Promise<Outcome> {
    const entry = await entryOf(target, policy)
    entry.users++
    try {
      const state = await entry.connecting
      if ('failure' in state) return state.failure
      const outcome = await work(state.connection)
      if (isBroken(outcome)) retire(entry)
      return outcome
    } finally {
      entry.users--
      if (entry.isRetired) void closeUnused(entry)
    }
  }

  function retire(entry: Entry<Connection>): void {
    for (const [key, known] of entries) if (known === entry) entries.delete(key)
    entry.isRetired = true
    void closeUnused(entry)
  }

  async function closeUnused(entry: Entry<Connection>): Promise<void> {
    const state = await entry.connecting
    if (entry.users === 0 && 'connection' in state) {
      await orAfter(closeMs, close(state.connection))
    }
  }

  async function rest(): Promise<void> {
    const all = [...entries.values()]
    entries.clear()
    for (const entry of all) entry.isRetired = true
    await Promise.all(all.map(closeUnused))
  }

  return { use, rest }
}

/** What a promise brings, or null after `ms`. */
async function orAfter<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), ms))
  try {
    return await Promise.race([promise, end])
  } finally {
    clearTimeout(timer)
  }
}

function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'outcome' in value
}
