/**
 * Text that Postgres takes and a person can read, and whether something of the original was lost.
 */
export type SafeText = { text: string; lossy: boolean }

/** Making one costs more than it takes to read a short answer. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads bytes of unknown origin as UTF-8. Invalid sequences become U+FFFD and NUL, which no
 * Postgres text holds, goes: both count as lossy. With `cut`, a character that the cut has halved
 * is left out, which does not.
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

/** The same for a string, cut to `limit` characters: no NUL, no half of a surrogate pair. */
export function safeString(value: string, limit: number): string {
  return value.slice(0, limit).replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\u{fffd}')
}
