import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import type { Transform } from 'node:stream'
import { listOf, type ResponseHead } from '../http1/head.ts'

/** The first bytes of a decoded body; `cut`: whether it is longer or broken. */
export type Decoded = { body: Uint8Array; cut: boolean }

/**
 * How the body of a response is compressed, such as `gzip`; null: not at all. Requests ask for no compression,
 * but some servers compress every response.
 */
export function codingOf(head: ResponseHead): string | null {
  const codings = listOf(head, 'content-encoding')?.filter((coding) => coding !== 'identity') ?? []
  return codings.length === 0 ? null : codings.join(', ')
}

/**
 * Decodes the start of a compressed body and stops after `limit` bytes, so that a body that decodes to
 * gigabytes costs no more than that. A body that cannot be decoded becomes a text that names its coding.
 */
export function decode(compressed: Uint8Array, coding: string, limit: number): Promise<Decoded> {
  const decoder = decoderOf(coding, compressed)
  if (decoder === null) return Promise.resolve(named(coding, limit))
  const parts: Uint8Array[] = []
  let size = 0
  return new Promise((resolve) => {
    // Not `for await`, which loses what was decoded before an error.
    decoder.on('data', (part: Uint8Array) => {
      parts.push(part)
      size += part.length
      if (size > limit) end(false)
    })
    decoder.on('end', () => end(false))
    decoder.on('error', () => end(true))
    decoder.end(compressed)

    function end(isBroken: boolean): void {
      decoder?.destroy()
      if (size === 0 && isBroken) return resolve(named(coding, limit))
      resolve({ body: joined(parts, size).slice(0, limit), cut: isBroken || size > limit })
    }
  })
}

function decoderOf(coding: string, [first = 0, second = 0]: Uint8Array): Transform | null {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  // Not brotli: under Deno 2.1 its decoder cannot stop early.
  if (coding !== 'deflate') return null
  // Some servers leave out the header of zlib (RFC 9110 section 8.4.1.2).
  const hasHeader = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
  return hasHeader ? createInflate() : createInflateRaw()
}

function named(coding: string, limit: number): Decoded {
  const text = `[a body with content-encoding ${coding}, which cannot be decoded]`
  return { body: new TextEncoder().encode(text).slice(0, limit), cut: true }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
