import { drainBytes } from './transport.ts'

/** Stores the first `limit` bytes of a body. */
export class LimitedBody {
  #parts: Uint8Array[] = []
  #kept = 0
  #seen = 0

  constructor(readonly limit: number) {}

  /** Adds a piece; false: stop reading, because too much is left. */
  push(chunk: Uint8Array): boolean {
    this.#seen += chunk.length
    const room = this.limit - this.#kept
    if (room > 0) {
      // A copy: the chunk may be a view of a 64 KiB buffer, which the result would keep in memory.
      const part = chunk.slice(0, room)
      this.#parts.push(part)
      this.#kept += part.length
    }
    return this.#seen <= Math.max(drainBytes, this.limit)
  }

  get isCut(): boolean {
    return this.#seen > this.#kept
  }

  bytes(): Uint8Array {
    const [only] = this.#parts
    if (only === undefined) return new Uint8Array()
    if (this.#parts.length === 1) return only
    const all = new Uint8Array(this.#kept)
    let at = 0
    for (const part of this.#parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}
