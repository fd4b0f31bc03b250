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
  /** Called when the number of connections changes. */
  onCount(change: 1 | -1): void
}

/**
 * The connections to one origin. A connection is used again only in a later turn of the event loop:
 * by then, unexpected bytes or an end after the response have closed it.
 */
export class Origin {
  readonly #connections = new Set<Connection>()
  readonly #opening = new Set<() => void>()
  #free: Connection[] = []
  #returned: Connection[] = []
  #waiting: WaitingRequest[] = []
  #isRetired = false

  constructor(readonly options: OriginOptions) {}

  /** Whether it has no connections and no waiting requests. */
  get isEmpty(): boolean {
    return this.#connections.size + this.#opening.size + this.#waiting.length === 0
  }

  /** Passes a connection to the request, now or when one is free or open. */
  request(waiting: WaitingRequest): void {
    const free = this.#free.pop()
    if (free === undefined) {
      this.#waiting.push(waiting)
      this.#openForWaiting()
    } else {
      this.options.deadlines.forget(free)
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

  /** Closes unused connections; returns how many. */
  closeFree(): number {
    const free = this.#free.splice(0)
    for (const connection of free) connection.close()
    return free.length
  }

  /** From now on closes each connection when it becomes unused. */
  retire(): void {
    this.#isRetired = true
    this.closeFree()
  }

  /** Closes all connections and fails all requests. */
  close(): void {
    this.retire()
    for (const cancel of this.#opening) cancel()
    for (const waiting of this.#waiting.splice(0)) waiting.onRefusal(closedEarly())
    for (const connection of this.#connections) connection.break()
  }

  #serve(): void {
    for (const connection of this.#returned.splice(0)) {
      if (!connection.isOpen) continue
      const waiting = this.#nextWaiting()
      if (waiting !== undefined) waiting.onConnection(connection)
      else if (this.#isRetired) connection.close()
      else this.#keep(connection)
    }
    this.#openForWaiting()
  }

  #keep(connection: Connection): void {
    this.#free.push(connection)
    this.options.deadlines.watch(connection)
  }

  #nextWaiting(): WaitingRequest | undefined {
    for (;;) {
      const waiting = this.#waiting.shift()
      if (waiting === undefined || !waiting.isSettled) return waiting
    }
  }

  #openForWaiting(): void {
    const coming = this.#returned.length + this.#opening.size
    const room = this.options.maxConnections - this.#connections.size - this.#opening.size
    for (let n = Math.min(room, this.#waiting.length - coming); n > 0; n--) this.#openOne()
  }

  #openOne(): void {
    const { to, connect, keepMs, onCount } = this.options
    const startedAt = performance.now()
    const cancel = connect(to, (result) => {
      this.#opening.delete(cancel)
      if (result instanceof Error) return this.#fail(result, startedAt)
      const connection = new Connection(result, (closed) => this.#drop(closed))
      this.#connections.add(connection)
      onCount(1)
      const waiting = this.#nextWaiting()
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
  }

  #drop(connection: Connection): void {
    this.#connections.delete(connection)
    this.options.deadlines.forget(connection)
    const at = this.#free.indexOf(connection)
    if (at >= 0) this.#free.splice(at, 1)
    this.options.onCount(-1)
    this.#openForWaiting()
  }
}
