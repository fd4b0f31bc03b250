import type { Buffer } from 'node:buffer'
import type { AddressPolicy } from '../connect/address.ts'
import type { ErrorClass } from '../contract/contract.ts'
import type { HeaderList } from '../signing/headers.ts'

/** A POST request, or a GET without a body, and how much of its response to store. */
export type PostRequest = {
  /** POST unless said otherwise. */
  method?: 'GET'
  /** The id of the endpoint: only its own requests share connections. */
  endpoint: string
  /** The organisation of the endpoint, for turns between organisations; absent: the operator decides the URL. */
  org?: string
  /**
   * Whether the request may be sent a second time if a connection that was used before ends without a byte of
   * a response (RFC 9110 section 9.2.2). Nearly always it was closed before the request arrived.
   */
  isRepeatable: boolean
  /** Checked by `checkTarget` under the same policy. */
  url: URL
  headers: HeaderList
  body: Buffer
  /** One deadline for DNS, connect, TLS, headers and body. */
  timeoutMs: number
  successBytes: number
  failureBytes: number
  /** Names, in lower case, of response headers to return; default: none. */
  keepHeaders?: readonly string[]
  policy: AddressPolicy
}

/** Classes of failures without a response. */
export type FaultClass = Exclude<ErrorClass, 'redirect' | 'status' | 'broker'>

/**
 * A response as far as it was read, or why there is none. `resent`: the request was sent twice, because the
 * first connection ended without a response.
 */
export type Exchange =
  | {
    kind: 'response'
    status: number
    retryAfter: string | null
    /** The received ones of `keepHeaders`. */
    headers?: Record<string, string>
    body: Uint8Array
    /** Whether the body was longer than the stored part, or ended early. */
    cut: boolean
    resent?: true
  }
  | {
    kind: 'fault'
    errorClass: FaultClass
    message: string
    /** No byte of the request was written. Absent: some may have been. */
    unsent?: true
    /** This process had no room for the request, which says nothing about the receiver. */
    isOurs?: true
    resent?: true
  }

/** Sends requests, nearly all of them POSTs, over vetted connections. Never rejects or follows a redirect. */
export type Transport = {
  post(request: PostRequest): Promise<Exchange>
  close(): Promise<void>
}

/** The time for the body of a 2xx response: it decides nothing, and it occupies a slot. */
export const successBodyMs = 1_000

/** How much of a body is read beyond the stored part, so that its connection can be used again. */
export const drainBytes = 65_536

/** Whether the status means delivered. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
