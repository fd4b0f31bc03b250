import type { Buffer } from 'node:buffer'
import type { Duplex } from 'node:stream'
import { closedEarly } from './error.ts'

/** The current request of a connection. */
export type ConnectionUser = {
  onBytes(chunk: Buffer): void
  /** Called when the peer closed its side, or the connection failed; it cannot be used again. */
  onEnd(error: Error | null): void
}

/** A connection to one origin: one request at a time; data between requests closes it. */
export class Connection {
  /** When it is closed if it stays unused, in ms on the monotonic clock. */
  deadline = Infinity
  #user: ConnectionUser | null = null
  #isOpen = true
  #wasUsed = false

  constructor(readonly stream: Duplex, readonly onClosed: (connection: Connection) => void) {
    stream.on('data', (chunk: Buffer) => {
      // Unexpected bytes: they belong to no request.
      if (this.#user === null) this.close()
      else this.#user.onBytes(chunk)
    })
    stream.on('end', () => this.#end(null))
    stream.on('error', (error: Error) => this.#end(error))
    stream.on('close', () => this.#end(closedEarly()))
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether all written bytes are sent; after an early response they may not be. */
  get isDrained(): boolean {
    return this.stream.writableLength === 0
  }

  /**
   * Whether it has had a request. Then the peer may close it before the next one arrives, because it was
   * unused for too long or has served enough requests.
   */
  get wasUsed(): boolean {
    return this.#wasUsed
  }

  /** Starts a request. */
  use(user: ConnectionUser, pieces: readonly Buffer[]): void {
    this.#user = user
    this.#wasUsed = true
    for (const piece of pieces) this.stream.write(piece)
  }

  /** Ends a request; the connection stays open. */
  leave(): void {
    this.#user = null
  }

  /** Closes it without a call of `onEnd`. */
  close(): void {
    this.#user = null
    this.#end(null)
  }

  /** Closes it with a call of `onEnd`. */
  break(): void {
    this.#end(closedEarly())
  }

  /** Called when its deadline has passed. */
  expire(): void {
    this.close()
  }

  #end(error: Error | null): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.stream.destroy()
    const user = this.#user
    this.#user = null
    // Before `onClosed`: the user may need another connection of the same origin.
    user?.onEnd(error)
    this.onClosed(this)
  }
}
