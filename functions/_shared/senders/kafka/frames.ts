import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { asError } from '../../base/errors.ts'

/** The longest response that is read: enough for the metadata of 80,000 partitions. */
export const mostResponseBytes = 4_194_304
/** The bytes of a length. */
const headBytes = 4

/** What a broker sends is not Kafka's protocol. */
export class BadResponse extends Error {
  override readonly name = 'BadResponse'
}

/**
 * Ends the connection, and nothing else, if a broker announces a response that is too long, or if kafkajs throws
 * while it reads one. kafkajs would keep up to 2 GB, and its error would end the process.
 */
export function limitFrames(socket: Socket): Socket {
  const emit = socket.emit.bind(socket)
  const takes = createFrameCheck()
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...values)
    if (socket.destroyed) return false
    try {
      const [chunk] = values
      if (!Buffer.isBuffer(chunk) || !takes(chunk)) {
        throw new BadResponse('The broker sends a response that is too long or has no valid length')
      }
      return emit(event, chunk)
    } catch (cause) {
      socket.destroy(asError(cause))
      return false
    }
  }
  return socket
}

/** Creates a function that takes the chunks of a stream and returns whether all lengths in it are allowed. */
export function createFrameCheck(most = mostResponseBytes): (chunk: Buffer) => boolean {
  const head = Buffer.alloc(headBytes)
  let hasOfHead = 0
  let left = 0

  return function takes(chunk): boolean {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at)
        left -= skipped
        at += skipped
        continue
      }
      head[hasOfHead++] = chunk[at++] ?? 0
      if (hasOfHead < headBytes) continue
      hasOfHead = 0
      left = head.readInt32BE()
      if (left < 0 || left > most) return false
    }
    return true
  }
}
