import type { Buffer } from 'node:buffer'
import type { Duplex } from 'node:stream'
import { closedEarly } from './error.ts'

/** Who has the use of a connection. */
export type ConnectionUser = {
  onBytes(chunk: Buffer): void
  /** The peer closed its side, or the connection broke; it cannot be used further. */
  onEnd(error: Error | null): void
}

/** A connection to one origin: one exchange at a time, and nothing is read between them. */
export class Connection {
  /** When it is closed if nobody uses it, on the monotonic clock. */
  deadline = Infinity
  #user: ConnectionUser | null = null
  #isOpen = true

  constructor(readonly stream: Duplex, readonly onClosed: (connection: Connection) => void) {
    stream.on('data', (chunk: Buffer) => {
      // Bytes that nobody asked for: whose answer they are cannot be told.
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

  /** Whether all that was written has gone out: after an early answer it may not have. */
  get isDrained(): boolean {
    return this.stream.writableLength === 0
  }

  /** Begins an exchange. */
  use(user: ConnectionUser, pieces: readonly Buffer[]): void {
    this.#user = user
    for (const piece of pieces) this.stream.write(piece)
  }

  /** Ends an exchange; the connection stays as it is. */
  leave(): void {
    this.#user = null
  }

  /** Closes it; whoever uses it is not told. */
  close(): void {
    this.#user = null
    this.#end(null)
  }

  /** Closes it, and tells whoever uses it. */
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
    this.onClosed(this)
    user?.onEnd(error)
  }
}
