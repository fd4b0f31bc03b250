import type { BodyPlace } from './body_room.ts'

/** A request's body, or why it could not be read. */
export type BytesRead =
  | { kind: 'whole'; body: ArrayBuffer }
  | { kind: 'too_large' }
  | { kind: 'late' }
  /** Other bodies need the memory: see body_room.ts. */
  | { kind: 'crowded' }
  | { kind: 'broken'; cause: unknown }

/** Whether content-length is above `max` or invalid. */
export function isLonger(request: Request, max: number): boolean {
  const length = request.headers.get('content-length')
  return length !== null && !(/^[0-9]{1,15}$/.test(length) && Number(length) <= max)
}

/**
 * Reads at most `max` bytes of a body for at most `ms`. A larger or later body is cancelled, and one that
 * its `place` cuts. The caller leaves the place.
 */
export async function readBytes(
  request: Request,
  max: number,
  ms: number,
  place: BodyPlace | null = null,
): Promise<BytesRead> {
  if (isLonger(request, max)) {
    await request.body?.cancel().catch(() => {})
    return { kind: 'too_large' }
  }
  const reader = request.body?.getReader()
  if (reader === undefined) return { kind: 'whole', body: new ArrayBuffer(0) }
  let timer: ReturnType<typeof setTimeout> | undefined
  const ends: Promise<'late' | 'crowded'>[] = [
    new Promise((resolve) => {
      timer = setTimeout(() => resolve('late'), ms)
    }),
  ]
  if (place !== null) ends.push(place.isCut.then(() => 'crowded'))
  const end = Promise.race(ends)
  const giveUp = async (read: BytesRead): Promise<BytesRead> => {
    await reader.cancel().catch(() => {})
    return read
  }
  const whole = new GrowingBytes()
  try {
    while (true) {
      const next = await Promise.race([end, reader.read()])
      if (typeof next === 'string') return await giveUp({ kind: next })
      if (next.done) {
        if (place?.keep() === false) return await giveUp({ kind: 'crowded' })
        return { kind: 'whole', body: whole.take() }
      }
      if (whole.length + next.value.length > max) return await giveUp({ kind: 'too_large' })
      whole.add(next.value)
      if (place?.take(next.value.length) === false) return await giveUp({ kind: 'crowded' })
    }
  } catch (cause) {
    return await giveUp({ kind: 'broken', cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Bytes in one buffer: a piece of one byte can be a view of 64 KiB, so pieces are copied. */
class GrowingBytes {
  #bytes = new Uint8Array(1024)
  length = 0

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.length))
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.length)
    this.length = needed
  }

  /** The bytes, in a buffer of their length. */
  take(): ArrayBuffer {
    return this.#bytes.buffer.slice(0, this.length)
  }
}
