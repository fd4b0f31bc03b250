import { malformed } from './error.ts'
import type { Framing } from './head.ts'

/** Takes a piece of a body; false says that no more is wanted. */
export type Keep = (piece: Uint8Array) => boolean

/**
 * Finds where a body ends. `read` gives how many bytes of a chunk belong to it; after that, `state`
 * says whether more is to come. Throws HttpError for chunks that are none.
 */
export interface BodyReader {
  readonly state: 'more' | 'ended' | 'unwanted'
  read(chunk: Uint8Array, keep: Keep): number
}

/** The reader for a framing. A body that ends with the connection never ends by itself. */
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

/** A line with the size of a chunk, or of the trailer, beyond which nobody means well. */
const longestLine = 4_096
const mostTrailerBytes = 16_384
/** What stands beside the sizes of all chunks: otherwise 64 kB of data may come in 268 MB. */
const mostExtensionBytes = 16_384

/** RFC 9112 section 7.1. Trailers are read over. */
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
    if (this.#line.length + end - at > longestLine) throw malformed('A line without end')
    this.#line += String.fromCharCode(...chunk.subarray(at, end))
    if (lineFeed < 0) return end
    if (!this.#line.endsWith('\r')) throw malformed('A line that ends in a line feed alone')
    this.#endLine(this.#line.slice(0, -1))
    this.#line = ''
    return end + 1
  }

  #endLine(line: string): void {
    if (this.#part === 'trailer') {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > mostTrailerBytes) throw malformed('A trailer without end')
      if (line === '') this.state = 'ended'
    } else if (this.#part === 'data-end') {
      if (line !== '') throw malformed('A chunk that is longer than it says')
      this.#part = 'size'
    } else {
      const [, size] = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/.exec(line) ?? []
      if (size === undefined) throw malformed('A chunk without a size')
      this.#extensionBytes += line.length - size.length
      if (this.#extensionBytes > mostExtensionBytes) throw malformed('Chunk extensions without end')
      this.#left = Number.parseInt(size, 16)
      this.#part = this.#left === 0 ? 'trailer' : 'data'
    }
  }
}
