import { setImmediate } from 'node:timers'
import type { Connect, ConnectTo } from '../connect/connector.ts'
import type { Deadlines } from './deadlines.ts'
import { Connection } from './connection.ts'
import { closedEarly } from './error.ts'

/** A request that waits for a connection. */
export type WaitingRequest = {
  /** Whether it no longer needs a connection. */
  readonly isSettled: boolean
  /** The time when it started to wait, in ms on the monotonic clock. */
  readonly waitsSince: number
  /** The limit of a connect that is started for it, in ms. */
  readonly timeoutMs: number
  /** Whether it must be the first request of its connection. */
  readonly needsFresh: boolean
  onConnection(connection: Connection): void
  onRefusal(error: Error): void
}

export type OriginOptions = {
  to: ConnectTo
  connect: Connect
  /** The most connections at once. */
  maxConnections: number
  /** How long an unused connection stays open, in ms. */
  keepMs: number
  /** Closes connections at their deadlines. */
  deadlines: Deadlines
  /** The unused connections of all origins, the longest unused one first. */
  idle: Set<Connection>
  /** Called when the number of connections changes. */
  onCount(change: 1 | -1): void
  /** Called when it has no connections and no waiting requests any more. */
  onEmpty(): void
}

/**
 * The connections of one endpoint to one origin. A connection is used again only in a later turn of the
 * event loop: by then, unexpected bytes or an end after the response have closed it. The most recently used
 * one is used first, because the peer closes it last.
 */
export class Origin {
  readonly #connections = new Set<Connection>()
  readonly #opening = new Set<() => void>()
  #free: Connection[] = []
  #returned: Connection[] = []
  #waiting: WaitingRequest[] = []
  #isRetired = false
  #isClosed = false

  constructor(readonly options: OriginOptions) {}

  /** Whether it has no connections and no waiting requests. */
  get isEmpty(): boolean {
    return this.#connections.size + this.#opening.size + this.#waiting.length === 0
  }

  /** Whether a connection is being opened. */
  get isConnecting(): boolean {
    return this.#opening.size > 0
  }

  /** Passes a connection to the request, now or when one is free or open. */
  request(waiting: WaitingRequest): void {
    if (this.#isClosed) return waiting.onRefusal(closedEarly())
    if (waiting.needsFresh) {
      // It has waited before the others already.
      this.#waiting.unshift(waiting)
      return this.#openForWaiting()
    }
    const free = this.#free.at(-1)
    if (free === undefined) {
      this.#waiting.push(waiting)
      this.#openForWaiting()
    } else {
      this.#take(free)
      waiting.onConnection(free)
    }
  }

  /** Takes a connection back after a request and keeps it for `keepMs`. */
  release(connection: Connection, keepMs: number): void {
    connection.leave()
    if (this.#isRetired || keepMs <= 0) return connection.close()
    connection.deadline = performance.now() + keepMs
    this.#returned.push(connection)
    if (this.#returned.length === 1) setImmediate(() => this.#serve())
  }

  /** From now on closes each connection when it becomes unused. */
  retire(): void {
    this.#isRetired = true
    for (const connection of [...this.#free]) connection.close()
  }

  /** Closes all connections and fails all requests. */
  close(): void {
    this.#isClosed = true
    this.retire()
    for (const cancel of this.#opening) cancel()
    for (const waiting of this.#waiting.splice(0)) waiting.onRefusal(closedEarly())
    for (const connection of this.#connections) connection.break()
  }

  #serve(): void {
    for (const connection of this.#returned.splice(0)) {
      if (!connection.isOpen) continue
      const waiting = this.#nextWaiting(false)
      if (waiting !== undefined) waiting.onConnection(connection)
      else if (this.#isRetired) connection.close()
      else this.#keep(connection)
    }
    this.#openForWaiting()
  }

  #keep(connection: Connection): void {
    this.#free.push(connection)
    this.options.idle.add(connection)
    this.options.deadlines.watch(connection)
  }

  /** Removes a connection from the unused ones. */
  #take(connection: Connection): void {
    const at = this.#free.lastIndexOf(connection)
    if (at >= 0) this.#free.splice(at, 1)
    this.options.idle.delete(connection)
    this.options.deadlines.forget(connection)
  }

  /** The next request for a connection, which is fresh or has been used before. */
  #nextWaiting(isFresh: boolean): WaitingRequest | undefined {
    while (this.#waiting[0]?.isSettled === true) this.#waiting.shift()
    const at = this.#waiting.findIndex(({ isSettled, needsFresh }) =>
      !isSettled && (isFresh || !needsFresh)
    )
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  #openForWaiting(): void {
    const last = this.#waiting.at(-1)
    if (last === undefined || this.#isClosed) return
    const fresh = this.#waiting.filter(({ needsFresh }) => needsFresh).length
    const wanted = Math.max(fresh, this.#waiting.length - this.#returned.length) -
      this.#opening.size
    const room = this.options.maxConnections - this.#connections.size - this.#opening.size
    const [oldest] = this.#free
    // Then only a request for a fresh connection waits. Closing one calls this function again.
    if (room <= 0 && wanted > 0 && oldest !== undefined) return oldest.close()
    for (let n = Math.min(room, wanted); n > 0; n--) this.#openOne(last.timeoutMs)
  }

  #openOne(timeoutMs: number): void {
    const { to, connect, keepMs, onCount } = this.options
    const startedAt = performance.now()
    const cancel = connect(to, timeoutMs, (result) => {
      this.#opening.delete(cancel)
      if (result instanceof Error) return this.#fail(result, startedAt)
      const connection = new Connection(result, (closed) => this.#drop(closed))
      this.#connections.add(connection)
      onCount(1)
      const waiting = this.#nextWaiting(true)
      if (waiting !== undefined) waiting.onConnection(connection)
      else this.release(connection, keepMs)
    })
    this.#opening.add(cancel)
  }

  /**
   * A failed connect fails one waiting request: one that already waited when the connect started. The
   * others cause new connects.
   */
  #fail(error: Error, startedAt: number): void {
    this.#waiting = this.#waiting.filter(({ isSettled }) => !isSettled)
    const at = this.#waiting.findIndex(({ waitsSince }) => waitsSince <= startedAt)
    const [refused] = at < 0 ? [] : this.#waiting.splice(at, 1)
    refused?.onRefusal(error)
    this.#openForWaiting()
    if (this.isEmpty) this.options.onEmpty()
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection)
    this.#take(connection)
    this.options.onCount(-1)
    this.#openForWaiting()
    if (this.isEmpty) this.options.onEmpty()
  }
}
