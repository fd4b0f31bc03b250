import { Buffer } from 'node:buffer'
import { type BodyReader, bodyReader, type Keep } from './body.ts'
import { HttpError, malformed } from './error.ts'
import { type Framing, framingOf, isKept } from './framing.ts'
import { parseHead, type ResponseHead } from './head.ts'

/** Receives the parts of a response. */
export type ResponseHandler = {
  /**
   * Called with the head of the final response, not of interim (1xx) ones. If only its status line is
   * valid, `read` throws after this call.
   */
  onHead(head: ResponseHead): void
  /** Called with a piece of the body, valid only during the call; false stops reading. */
  onBody: Keep
}

/** The longest head, and the most bytes before it; undici and Node have the same limit. */
const longestHead = 16_384
const endOfHead = Buffer.from('\r\n\r\n')
const startOfHead = 'HTTP/1.'
const [cr, lf] = [0x0d, 0x0a]

/**
 * Parses one response from the bytes of a connection. `read` and `end` throw HttpError if it is not
 * HTTP/1.1.
 */
export class ResponseReader {
  readonly #partial = new PartialHead()
  #head: ResponseHead | null = null
  #framing: Framing = { kind: 'close' }
  #body: BodyReader | null = null
  #isClean = true
  #bytesBefore = 0

  constructor(readonly handler: ResponseHandler) {}

  /** Whether the response is complete, or its reader has stopped. */
  get isDone(): boolean {
    return this.#body !== null && this.#body.state !== 'more'
  }

  /** Whether the connection can be used for another request. */
  get isReusable(): boolean {
    return this.#body?.state === 'ended' && this.#isClean && this.#head !== null &&
      isKept(this.#head)
  }

  read(chunk: Buffer): void {
    let from = Math.max(0, this.#partial.length - endOfHead.length)
    let bytes = this.#partial.appendTo(chunk)
    while (this.#body === null) {
      // Empty lines before the status line: some servers send one, and all clients accept it.
      while (bytes[0] === cr && bytes[1] === lf) {
        this.#count(2)
        bytes = bytes.subarray(2)
        from = 0
      }
      const end = bytes.indexOf(endOfHead, from)
      if (end < 0) return this.#wait(bytes, from)
      if (end > longestHead) throw tooLong()
      this.#takeHead(bytes.toString('latin1', 0, end))
      bytes = bytes.subarray(end + endOfHead.length)
      from = 0
    }
    const taken = this.#body.read(bytes, this.handler.onBody)
    // After an unexpected second response, a response may belong to another request.
    if (taken < bytes.length) this.#isClean = false
  }

  /** The peer has closed the connection: returns whether that completes the response. */
  end(): boolean {
    if (this.isDone) return true
    return this.#body !== null && this.#framing.kind === 'close'
  }

  /** Holds an incomplete head. Throws at once if it cannot become a valid one. */
  #wait(bytes: Buffer, from: number): void {
    // The longest head, and its end without the last byte.
    if (bytes.length >= longestHead + endOfHead.length) throw tooLong()
    const isEmptyLine = bytes.length === 1 && bytes[0] === cr
    if (!isEmptyLine && !startOfHead.startsWith(bytes.toString('latin1', 0, startOfHead.length))) {
      throw malformed('The status line is invalid')
    }
    for (let at = bytes.indexOf(lf, from); at >= 0; at = bytes.indexOf(lf, at + 1)) {
      if (bytes[at - 1] === cr) continue
      // With its line feed, the last line is invalid.
      this.#takeHead(bytes.toString('latin1', 0, at + 1))
      throw malformed('A line ends with only a line feed')
    }
    this.#partial.hold(bytes)
  }

  /** Without a limit, endless interim responses would block the run. */
  #count(bytes: number): void {
    this.#bytesBefore += bytes
    if (this.#bytesBefore > longestHead) throw tooLong()
  }

  #takeHead(text: string): void {
    const head = parseHead(text)
    if (head.status === 101) throw malformed('An upgrade without a request for it')
    if (head.status < 200) {
      if (!head.isSound) throw malformed('A header line is invalid')
      this.#count(text.length + endOfHead.length)
      return
    }
    this.#head = head
    this.handler.onHead(head)
    this.#framing = framingOf(head)
    this.#body = bodyReader(this.#framing)
  }
}

/**
 * An incomplete head in one buffer. Without it, a head of 16 kB that arrives byte by byte would be
 * copied 16,000 times.
 */
class PartialHead {
  #room: Buffer | null = null
  length = 0

  hold(bytes: Buffer): void {
    this.#room ??= Buffer.allocUnsafeSlow(longestHead + endOfHead.length)
    if (bytes.buffer !== this.#room.buffer || bytes.byteOffset !== 0) bytes.copy(this.#room)
    this.length = bytes.length
  }

  /** Returns the stored bytes followed by a chunk, and clears the buffer. */
  appendTo(chunk: Buffer): Buffer {
    if (this.#room === null || this.length === 0) return chunk
    const { length } = this
    this.length = 0
    if (length + chunk.length > this.#room.length) {
      return Buffer.concat([this.#room.subarray(0, length), chunk])
    }
    chunk.copy(this.#room, length)
    return this.#room.subarray(0, length + chunk.length)
  }
}

function tooLong(): HttpError {
  return new HttpError('OUTHOOK_HEAD', 'The head is too long')
}
