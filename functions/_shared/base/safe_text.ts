/** Text that Postgres can store; `lossy` if a part of the original was replaced or removed. */
export type SafeText = { text: string; lossy: boolean }

/** Shared, because a new decoder costs more than decoding a short response. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes bytes of unknown origin as UTF-8. Invalid sequences become U+FFFD, and NUL, which Postgres
 * cannot store, is removed: both are lossy. With `cut`, an incomplete character at the end is removed,
 * which is not lossy.
 */
export function safeText(bytes: Uint8Array, { cut = false } = {}): SafeText {
  if (bytes.length === 0) return { text: '', lossy: false }
  let text: string
  let lossy = false
  try {
    text = cut
      ? new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
      : strictDecoder.decode(bytes)
  } catch {
    text = new TextDecoder('utf-8').decode(bytes, { stream: cut })
    lossy = true
  }
  if (!text.includes('\0')) return { text, lossy }
  return { text: text.replaceAll('\0', ''), lossy: true }
}

/** The same for a string, cut to `limit` characters: without NUL and half surrogate pairs. */
export function safeString(value: string, limit: number): string {
  return value.slice(0, limit).replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\u{fffd}')
}
