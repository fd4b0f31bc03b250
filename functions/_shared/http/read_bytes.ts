/** A request's body, or why it could not be read. */
export type BytesRead =
  | { kind: 'whole'; body: ArrayBuffer }
  | { kind: 'too_large' }
  | { kind: 'late' }
  | { kind: 'broken'; cause: unknown }

/** Whether content-length is above `max` or invalid. */
export function isLonger(request: Request, max: number): boolean {
  const length = request.headers.get('content-length')
  return length !== null && !(/^[0-9]{1,15}$/.test(length) && Number(length) <= max)
}

/** Reads at most `max` bytes of a body for at most `ms`. A larger or later body is cancelled. */
export async function readBytes(request: Request, max: number, ms: number): Promise<BytesRead> {
  if (isLonger(request, max)) {
    await request.body?.cancel().catch(() => {})
    return { kind: 'too_large' }
  }
  const reader = request.body?.getReader()
  if (reader === undefined) return { kind: 'whole', body: new ArrayBuffer(0) }
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  const giveUp = async (read: BytesRead): Promise<BytesRead> => {
    await reader.cancel().catch(() => {})
    return read
  }
  const parts: Uint8Array[] = []
  let length = 0
  try {
    while (true) {
      const next = await Promise.race([reader.read(), late])
      if (next === null) return await giveUp({ kind: 'late' })
      if (next.done) return { kind: 'whole', body: join(parts, length) }
      length += next.value.length
      if (length > max) return await giveUp({ kind: 'too_large' })
      parts.push(next.value)
    }
  } catch (cause) {
    return await giveUp({ kind: 'broken', cause })
  } finally {
    clearTimeout(timer)
  }
}

function join(parts: Uint8Array[], length: number): ArrayBuffer {
  const whole = new ArrayBuffer(length)
  const bytes = new Uint8Array(whole)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return whole
}
