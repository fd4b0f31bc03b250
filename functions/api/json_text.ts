import { ApiError } from './errors.ts'

const quote = 0x22
const backslash = 0x5c

/**
 * Refuses bytes that are not UTF-8, and JSON whose objects and arrays lie deeper in each other than
 * `depth`, before a parser or a schema walks down there. Whether it is JSON at all is the parser's
 * business. Throws ApiError.
 */
export function checkJsonText(bytes: Uint8Array, depth: number): void {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ApiError('invalid_argument', 'The body is not UTF-8', {
      remedy: 'Send one JSON value in UTF-8',
    })
  }
  if (isDeeper(bytes, depth)) {
    throw new ApiError('invalid_argument', `The body is nested deeper than ${depth} levels`, {
      remedy: 'Send flatter JSON',
    })
  }
}

function isDeeper(bytes: Uint8Array, depth: number): boolean {
  let level = 0
  let inText = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === 0x5b || byte === 0x7b) {
      if (++level > depth) return true
    } else if (byte === 0x5d || byte === 0x7d) level--
  }
  return false
}
