import { setImmediate } from 'node:timers'
import type { Connect, ConnectTo } from '../connect/connector.ts'
import type { Deadlines } from './deadlines.ts'
import { Connection } from './connection.ts'
import { closedEarly } from './error.ts'

/** Who waits for a connection. */
export type Asker = {
  /** No connection is wanted any more. */
  readonly isGone: boolean
  /** Since when, on the monotonic clock. */
  readonly askedAt: number
  onConnection(connection: Connection): void
  onRefusal(error: Error): void
}

export type OriginOptions = {
  to: ConnectTo
  connect: Connect
  /** How many connections there may be at once. */
  most: number
  /** How long one that nobody has used is kept. */
  keepMs: number
  /** Closes what is kept for too long. */
  deadlines: Deadlines
  /** The number of connections has changed by one, up or down. */
  onCount(change: 1 | -1): void
}

/**
 * The connections to one origin. A free one is used again from the next turn of the event loop on:
 * what the peer sent after its answer, bytes or its end, has been seen by then.
 */
export class Origin {
  readonly #connections = new Set<Connection>()
  readonly #opening = new Set<() => void>()
  #free: Connection[] = []
  #cooling: Connection[] = []
  #waiting: Asker[] = []
  #isRetired = false

  constructor(readonly options: OriginOptions) {}

  /** Whether nobody uses it, waits for it, or could use a connection of it again. */
  get isEmpty(): boolean {
    return this.#connections.size + this.#opening.size + this.#waiting.length === 0
  }

  /** Gives a connection at once, or when one is free or made. */
  ask(asker: Asker): void {
    const free = this.#free.pop()
    if (free === undefined) {
      this.#waiting.push(asker)
      this.#openForWaiting()
    } else {
      this.options.deadlines.forget(free)
      asker.onConnection(free)
    }
  }

  /** Takes a connection back after an exchange, to be kept for that long. */
  release(connection: Connection, keepMs: number): void {
    connection.leave()
    if (this.#isRetired || keepMs <= 0) return connection.close()
    connection.deadline = performance.now() + keepMs
    this.#cooling.push(connection)
    if (this.#cooling.length === 1) setImmediate(() => this.#serve())
  }

  /** Closes the connections that nobody uses; gives how many. */
  closeFree(): number {
    const free = this.#free.splice(0)
    for (const connection of free) connection.close()
    return free.length
  }

  /** Keeps no connection any more: each is closed when it is not in use. */
  retire(): void {
    this.#isRetired = true
    this.closeFree()
  }

  /** Closes all connections, those in use too, and refuses whoever waits. */
  close(): void {
    this.retire()
    for (const cancel of this.#opening) cancel()
    for (const asker of this.#waiting.splice(0)) asker.onRefusal(closedEarly())
    for (const connection of this.#connections) connection.break()
  }

  #serve(): void {
    for (const connection of this.#cooling.splice(0)) {
      if (!connection.isOpen) continue
      const asker = this.#nextWaiting()
      if (asker !== undefined) asker.onConnection(connection)
      else if (this.#isRetired) connection.close()
      else this.#keep(connection)
    }
    this.#openForWaiting()
  }

  #keep(connection: Connection): void {
    this.#free.push(connection)
    this.options.deadlines.watch(connection)
  }

  #nextWaiting(): Asker | undefined {
    for (;;) {
      const asker = this.#waiting.shift()
      if (asker === undefined || !asker.isGone) return asker
    }
  }

  #openForWaiting(): void {
    const coming = this.#cooling.length + this.#opening.size
    const room = this.options.most - this.#connections.size - this.#opening.size
    for (let n = Math.min(room, this.#waiting.length - coming); n > 0; n--) this.#openOne()
  }

  #openOne(): void {
    const { to, connect, keepMs, onCount } = this.options
    const begunAt = performance.now()
    const cancel = connect(to, (result) => {
      this.#opening.delete(cancel)
      if (result instanceof Error) return this.#fail(result, begunAt)
      const connection = new Connection(result, (closed) => this.#drop(closed))
      this.#connections.add(connection)
      onCount(1)
      const asker = this.#nextWaiting()
      if (asker !== undefined) asker.onConnection(connection)
      else this.release(connection, keepMs)
    })
    this.#opening.add(cancel)
  }

  /**
   * An attempt to connect that fails is one asker's, of those it was made for; for the others
   * another is made. Whoever came after it began has waited less than it says.
   */
  #fail(error: Error, begunAt: number): void {
    this.#waiting = this.#waiting.filter(({ isGone }) => !isGone)
    const at = this.#waiting.findIndex(({ askedAt }) => askedAt <= begunAt)
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
