import type { AddressPolicy } from '../../connect/address.ts'
import type { Outcome } from '../../contract/contract.ts'
import { type Failure, full, isBroken, late } from './outcome.ts'
import { createUnanswered } from './unanswered.ts'

/** Opens connections to one kind of broker. */
export type Dialler<Target, Connection> = {
  /** Connects, or resolves with a failure; it does not reject. It fails after `dialMs`. */
  dial(target: Target, policy: AddressPolicy): Promise<Connection | Failure>
  close(connection: Connection): Promise<void>
  isOpen(connection: Connection): boolean
}

/** One connection for each broker and user, opened on demand and shared by all deliveries. */
export type Connections<Target, Connection> = {
  /**
   * Calls `work` with the connection, unless `isLate` returns true when there is one. A connection is not
   * used again after a failure that breaks it; a broker that cannot be reached is not dialled again for one
   * second. While 64 late records of an endpoint have no response, further ones fail at once; call room()
   * first. Each connection with a late record of the endpoint is closed then if all of its records are late,
   * which ends them. It may have been replaced: by another address, or after a failure.
   */
  use(
    target: Target,
    policy: AddressPolicy,
    work: (connection: Connection) => Promise<Outcome>,
    record: Record,
  ): Promise<Outcome>
  /** Waits until a further record of the endpoint may be sent, up to one second. */
  room(endpointId: string): Promise<void>
  /**
   * Closes unused connections now, and the others when they become unused. Resolves when the unused ones, and those
   * retired before, are closed.
   */
  closeIdle(): Promise<void>
  /** How many brokers have a connection, or were connected to in the last second before the last
   * connection. */
  readonly size: number
}

type Entry<Connection> = {
  policy: AddressPolicy
  connecting: Promise<{ connection: Connection } | { failure: Failure; at: number }>
  users: Set<Record>
  isRetired: boolean
  /** Since it is being closed; null before. */
  closing: Promise<void> | null
  /** When it could not be connected; null: it is connected or connecting. */
  failedAt: number | null
}

/** A record that uses a connection. */
type Record = { endpointId: string; isLate: () => boolean }

const coolDownMs = 1_000
/** The longest wait for a broker's response to a close. */
const closeMs = 2_000

type Options = {
  /** Milliseconds on a monotonic clock. */
  now?: () => number
  dialMs?: number
  /** How long room() waits: less than the second that a lease has left after an attempt. */
  roomMs?: number
}

/** Creates it without connections. */
export function createConnections<Target, Connection>(
  { dial, close, isOpen }: Dialler<Target, Connection>,
  { now = () => performance.now(), dialMs = 10_000, roomMs = 1_000 }: Options = {},
): Connections<Target, Connection> {
  // The keys contain credentials, so they stay in memory.
  const entries = new Map<string, Entry<Connection>>()
  // Also those that are retired, so no longer in `entries`.
  const used = new Set<Entry<Connection>>()
  // Retired connections that are being closed.
  const ending = new Set<Promise<void>>()
  const unanswered = createUnanswered({ waitMs: roomMs })

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
    // Another delivery may have opened a connection meanwhile.
    const current = entries.get(key)
    if (current !== undefined && current !== known) return current
    if (current !== undefined) retire(current)
    forgetFailures()
    const connecting = open()
    const state = { isRetired: false, closing: null, failedAt: null }
    const entry: Entry<Connection> = { policy, connecting, users: new Set(), ...state }
    entries.set(key, entry)
    void connecting.then((state) => {
      if ('failure' in state) entry.failedAt = state.at
    })
    return entry

    async function open(): Promise<{ connection: Connection } | { failure: Failure; at: number }> {
      const dialling = dial(target, policy)
      const dialled = await withTimeout(dialMs, dialling)
      if (dialled === null) {
        // The client may wait forever for an interrupted handshake.
        void dialling.then((made) => {
          if (!isFailure(made)) track(closeGently(made))
        })
        return { failure: late(), at: now() }
      }
      return isFailure(dialled) ? { failure: dialled, at: now() } : { connection: dialled }
    }
  }

  /** Otherwise each broker that was never reached would stay for the life of a worker. */
  function forgetFailures(): void {
    for (const [key, { failedAt }] of entries) {
      if (failedAt !== null && now() - failedAt >= coolDownMs) entries.delete(key)
    }
  }

  async function use(
    target: Target,
    policy: AddressPolicy,
    work: (connection: Connection) => Promise<Outcome>,
    record: Record,
  ): Promise<Outcome> {
    const answered = unanswered.add(record.endpointId, record.isLate)
    if (answered === null) {
      endLate(record.endpointId)
      return full()
    }
    try {
      return await useEntry(await entryOf(target, policy), work, record)
    } finally {
      answered()
    }
  }

  async function useEntry(
    entry: Entry<Connection>,
    work: (connection: Connection) => Promise<Outcome>,
    { endpointId, isLate }: Record,
  ): Promise<Outcome> {
    // Its own object, because two deliveries may share one.
    const user = { endpointId, isLate }
    entry.users.add(user)
    used.add(entry)
    try {
      const state = await entry.connecting
      if ('failure' in state) return state.failure
      if (isLate()) return late()
      const outcome = await work(state.connection)
      if (isBroken(outcome)) retire(entry)
      return outcome
    } finally {
      entry.users.delete(user)
      if (entry.users.size === 0) used.delete(entry)
      if (entry.isRetired) track(closeUnused(entry))
    }
  }

  function retire(entry: Entry<Connection>): void {
    for (const [key, known] of entries) if (known === entry) entries.delete(key)
    entry.isRetired = true
    track(closeUnused(entry))
  }

  /** closeIdle() waits until it is closed. */
  function track(closing: Promise<void>): void {
    const end = closing.finally(() => ending.delete(end))
    ending.add(end)
  }

  /** Otherwise the records of a broker that never responds would stop their endpoint until the process ends. */
  function endLate(endpointId: string): void {
    for (const entry of used) {
      const records = [...entry.users]
      if (!records.some((record) => record.endpointId === endpointId)) continue
      if (!records.every(({ isLate }) => isLate())) continue
      retire(entry)
      track(closeNow(entry))
    }
  }

  async function closeUnused(entry: Entry<Connection>): Promise<void> {
    await entry.connecting
    if (entry.users.size === 0) await closeNow(entry)
  }

  function closeNow(entry: Entry<Connection>): Promise<void> {
    entry.closing ??= closeOpen()
    return entry.closing

    async function closeOpen(): Promise<void> {
      const state = await entry.connecting
      if ('connection' in state) await closeGently(state.connection)
    }
  }

  /** A connection that cannot be closed is broken, and nothing uses it any more. */
  async function closeGently(connection: Connection): Promise<void> {
    await withTimeout(closeMs, close(connection)).catch(() => {})
  }

  async function closeIdle(): Promise<void> {
    const all = [...entries.values()]
    entries.clear()
    for (const entry of all) entry.isRetired = true
    await Promise.all([...all.map(closeUnused), ...ending])
  }

  return {
    use,
    room: unanswered.room,
    closeIdle,
    get size() {
      return entries.size
    },
  }
}

/** The promise's result, or null after `ms`. */
async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T | null> {
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
