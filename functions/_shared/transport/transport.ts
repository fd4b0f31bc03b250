import type { Buffer } from 'node:buffer'
import type { AddressPolicy } from '../connect/address.ts'
import type { ErrorClass } from '../contract/contract.ts'
import type { HeaderList } from '../signing/headers.ts'

/** One POST, and how much of its answer to keep. */
export type PostRequest = {
  /** Checked by `checkTarget` under the same policy. */
  url: URL
  headers: HeaderList
  body: Buffer
  /** One deadline over name, connection, TLS, headers and body. */
  timeoutMs: number
  successBytes: number
  failureBytes: number
  /** Names, in lower case, of the headers to keep of the answer; none unless said. */
  keepHeaders?: readonly string[]
  policy: AddressPolicy
}

/** Why no answer came; the others are about an answer. */
export type FaultClass = Exclude<ErrorClass, 'redirect' | 'status' | 'broker'>

/** What came back: an answer as far as it was read, or why there is none. */
export type Exchange =
  | {
    kind: 'answer'
    status: number
    retryAfter: string | null
    /** Those of `keepHeaders` that came. */
    headers?: Record<string, string>
    body: Uint8Array
    /** The body went on, or broke off, where the kept part ends. */
    cut: boolean
  }
  | { kind: 'fault'; errorClass: FaultClass; message: string }

/** Makes POSTs over vetted connections. It never throws and never follows a redirect. */
export type Transport = {
  post(request: PostRequest): Promise<Exchange>
  close(): Promise<void>
}

/** After a 2xx status line the body gets so long: it decides nothing, and a slot is waiting. */
export const successBodyMs = 1_000

/**
 * A body is read on past what is kept of it, so that the connection can be used again, but no
 * further than this.
 */
export const drainBytes = 65_536

/** Whether a status line alone means delivered. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
