import { Buffer } from 'node:buffer'
import { type BodyReader, bodyReader, type Keep } from './body.ts'
import { HttpError, malformed } from './error.ts'
import { type AnswerHead, type Framing, framingOf, isKept, parseHead } from './head.ts'

/** What becomes of an answer as it is read. */
export type AnswerHandler = {
  /** The head of the answer itself; interim ones are read over. */
  onHead(head: AnswerHead): void
  /** A piece of the body, good only until this returns; false: no more is wanted. */
  onBody: Keep
}

/** Longer heads are refused, and as much of interim ones; undici and Node have the same bound. */
const longestHead = 16_384
const endOfHead = Buffer.from('\r\n\r\n')

/**
 * Reads one answer from the bytes of a connection as they come. `read` and `end` throw HttpError
 * where it is not HTTP/1.1.
 */
export class AnswerReader {
  readonly #begun = new BegunHead()
  #head: AnswerHead | null = null
  #framing: Framing = { kind: 'close' }
  #body: BodyReader | null = null
  #isClean = true
  #interimBytes = 0

  constructor(readonly handler: AnswerHandler) {}

  /** Whether the answer is whole, or so much of it that no more is wanted. */
  get isDone(): boolean {
    return this.#body !== null && this.#body.state !== 'more'
  }

  /** Whether the connection may carry another exchange. */
  get leavesConnection(): boolean {
    return this.#body?.state === 'ended' && this.#isClean && this.#head !== null &&
      isKept(this.#head)
  }

  read(chunk: Buffer): void {
    let from = Math.max(0, this.#begun.length - endOfHead.length)
    let bytes = this.#begun.followedBy(chunk)
    while (this.#body === null) {
      const end = bytes.indexOf(endOfHead, from)
      if (end < 0) return this.#wait(bytes)
      if (end > longestHead) throw tooLong()
      this.#takeHead(bytes.toString('latin1', 0, end))
      bytes = bytes.subarray(end + endOfHead.length)
      from = 0
    }
    const taken = this.#body.read(bytes, this.handler.onBody)
    // An answer that nobody asked for makes the next one doubtful.
    if (taken < bytes.length) this.#isClean = false
  }

  /** The peer closes: true when that is how the answer ends. */
  end(): boolean {
    if (this.isDone) return true
    return this.#body !== null && this.#framing.kind === 'close'
  }

  #wait(bytes: Buffer): void {
    // The longest head, and all but one byte of its end.
    if (bytes.length >= longestHead + endOfHead.length) throw tooLong()
    // Nothing that will be a head begins otherwise: no waiting for the end of it.
    if (!'HTTP/1.'.startsWith(bytes.toString('latin1', 0, Math.min(7, bytes.length)))) {
      throw malformed('No status line')
    }
    this.#begun.hold(bytes)
  }

  #takeHead(text: string): void {
    const head = parseHead(text)
    if (head.status === 101) throw malformed('An upgrade that nobody asked for')
    if (head.status < 200) {
      // Read over without end they would keep the run from every other answer.
      this.#interimBytes += text.length + endOfHead.length
      if (this.#interimBytes > longestHead) throw tooLong()
      return
    }
    this.#head = head
    this.#framing = framingOf(head)
    this.#body = bodyReader(this.#framing)
    this.handler.onHead(head)
  }
}

/**
 * The bytes of a head that is not whole yet, in one piece of memory: a head of 16 kB that comes
 * byte by byte would be copied 16,000 times otherwise.
 */
class BegunHead {
  #room: Buffer | null = null
  length = 0

  hold(bytes: Buffer): void {
    this.#room ??= Buffer.allocUnsafeSlow(longestHead + endOfHead.length)
    if (bytes.buffer !== this.#room.buffer || bytes.byteOffset !== 0) bytes.copy(this.#room)
    this.length = bytes.length
  }

  /** What is held with a chunk behind it; nothing is held after that. */
  followedBy(chunk: Buffer): Buffer {
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
  return new HttpError('OUTHOOK_HEAD', 'A head that is too long')
}
