import { malformed } from './error.ts'
import type { Framing } from './framing.ts'
import { isField, isFit } from './head.ts'

/** Receives a piece of a body; false stops reading. */
export type Keep = (piece: Uint8Array) => boolean

/**
 * Finds the end of a body. `read` returns how many bytes of a chunk belong to it and updates `state`.
 * Throws HttpError for invalid chunks.
 */
export interface BodyReader {
  readonly state: 'more' | 'ended' | 'unwanted'
  read(chunk: Uint8Array, keep: Keep): number
}

/** The reader for a framing. Only the connection's end completes a body of kind `close`. */
export function bodyReader(framing: Framing): BodyReader {
  if (framing.kind === 'chunked') return new ChunkedBody()
  return new SizedBody(framing.kind === 'length' ? framing.bytes : Infinity)
}

class SizedBody implements BodyReader {
  state: BodyReader['state']

  constructor(private left: number) {
    this.state = left === 0 ? 'ended' : 'more'
  }

  read(chunk: Uint8Array, keep: Keep): number {
    const size = Math.min(this.left, chunk.length)
    this.left -= size
    if (size > 0 && !keep(chunk.subarray(0, size))) this.state = 'unwanted'
    else if (this.left === 0) this.state = 'ended'
    return size
  }
}

/** The longest line of a chunk size or trailer. */
const longestLine = 4_096
const maxTrailerBytes = 16_384
/** Limits chunk extensions and leading zeros: otherwise 64 kB of data could arrive in 268 MB. */
const maxExtensionBytes = 16_384

/** RFC 9112 section 7.1. Trailers are ignored. */
class ChunkedBody implements BodyReader {
  state: BodyReader['state'] = 'more'
  #part: 'size' | 'data' | 'data-end' | 'trailer' = 'size'
  #line = ''
  #left = 0
  #trailerBytes = 0
  #extensionBytes = 0

  read(chunk: Uint8Array, keep: Keep): number {
    let at = 0
    while (at < chunk.length && this.state === 'more') {
      at = this.#part === 'data' ? this.#readData(chunk, at, keep) : this.#readLine(chunk, at)
    }
    return at
  }

  #readData(chunk: Uint8Array, at: number, keep: Keep): number {
    const end = Math.min(chunk.length, at + this.#left)
    this.#left -= end - at
    if (!keep(chunk.subarray(at, end))) this.state = 'unwanted'
    if (this.#left === 0) this.#part = 'data-end'
    return end
  }

  #readLine(chunk: Uint8Array, at: number): number {
    const lineFeed = chunk.indexOf(10, at)
    const end = lineFeed < 0 ? chunk.length : lineFeed
    if (this.#line.length + end - at > longestLine) throw malformed('A line is too long')
    this.#line += String.fromCharCode(...chunk.subarray(at, end))
    if (lineFeed < 0) return end
    if (!this.#line.endsWith('\r')) throw malformed('A line ends with only a line feed')
    this.#endLine(this.#line.slice(0, -1))
    this.#line = ''
    return end + 1
  }

  #endLine(line: string): void {
    if (this.#part === 'trailer') {
      if (line === '') this.state = 'ended'
      else this.#takeTrailer(line)
    } else if (this.#part === 'data-end') {
      if (line !== '') throw malformed('A chunk is longer than its size')
      this.#part = 'size'
    } else {
      const [, size] = /^0*([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/.exec(line) ?? []
      if (size === undefined || !isFit(line)) throw malformed('A chunk has no size')
      this.#extensionBytes += line.length - size.length
      if (this.#extensionBytes > maxExtensionBytes) throw malformed('Chunk extensions too long')
      this.#left = Number.parseInt(size, 16)
      this.#part = this.#left === 0 ? 'trailer' : 'data'
    }
  }

  #takeTrailer(line: string): void {
    const isFolded = this.#trailerBytes > 0 && /^[ \t]/.test(line) && isFit(line)
    if (!isFolded && !isField(line)) throw malformed('A trailer line is invalid')
    this.#trailerBytes += line.length
    if (this.#trailerBytes > maxTrailerBytes) throw malformed('The trailer is too long')
  }
}
