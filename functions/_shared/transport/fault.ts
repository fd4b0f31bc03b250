import { ConnectTimeoutError } from '../connect/connector.ts'
import { BlockedAddressError } from '../connect/lookup.ts'
import { LookupWaitError } from '../connect/share_lookups.ts'
import { blockedMessage } from '../connect/target.ts'
import { tlsProblem } from '../connect/tls_problem.ts'
import type { FaultClass } from './transport.ts'

/** Why there is no response. The members are those of `Exchange`. */
export type Fault = {
  kind: 'fault'
  errorClass: FaultClass
  message: string
  unsent?: true
  isOurs?: true
}

/**
 * The message of each class, for the endpoint's owner. The underlying message is omitted, because it may
 * contain internal addresses.
 */
const sentences: Record<FaultClass, string> = {
  dns: 'The host name cannot be resolved',
  blocked: blockedMessage,
  connect: 'The host refuses the connection or cannot be reached',
  tls: 'The TLS handshake failed: check the certificate, its chain and name, and TLS 1.2 or newer',
  timeout: 'The endpoint did not respond in time',
  reset: 'The connection was closed before the response',
  too_large: 'The headers of the response are too large',
  protocol: 'The response is not HTTP/1.1',
}

const byCode: Record<string, FaultClass> = {
  OUTHOOK_BLOCKED: 'blocked',
  OUTHOOK_CONNECT: 'connect',
  OUTHOOK_TLS: 'tls',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  EAI_MEMORY: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  EHOSTDOWN: 'connect',
  ENETUNREACH: 'connect',
  ENETDOWN: 'connect',
  EADDRNOTAVAIL: 'connect',
  EACCES: 'connect',
  EPERM: 'connect',
  EMFILE: 'connect',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  OUTHOOK_HEAD: 'too_large',
  OUTHOOK_HTTP: 'protocol',
  EPROTO: 'tls',
}

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|ERR_OSSL_)/
/** Under Deno, rustls reports texts instead of codes. */
const tlsWords = /certificate|handshake|\bTLS\b|\bSSL\b|received fatal alert|UnknownIssuer/i
const resetWords =
  /other side closed|closed before|connection (?:was )?(?:reset|closed)|unexpected eof|broken pipe/i
const dnsWords = /failed to lookup address|dns error|name resolution|getaddrinfo/i
const refusedWords = /connection refused|unreachable|no route/i

/** Classifies an error of a client; unknown ones are `protocol`. */
export function faultOf(error: unknown): Fault {
  // Deno's fetch wraps the cause; several addresses cause an AggregateError, of which the last error
  // counts.
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const known = classOfOne(at)
    if (at instanceof BlockedAddressError) return fault('blocked', at.message)
    if (at instanceof LookupWaitError) return { ...fault('dns', at.message), isOurs: true }
    if (at instanceof ConnectTimeoutError) return fault('connect', at.message)
    if (known === 'tls') return fault(known, tlsProblem(at) ?? sentences.tls)
    if (known !== null) return fault(known)
    at = at instanceof AggregateError ? at.errors.at(-1) : at.cause
  }
  return fault('protocol')
}

/** A fault of a class, with the message of the class or a more specific one. */
export function fault(errorClass: FaultClass, message: string = sentences[errorClass]): Fault {
  return { kind: 'fault', errorClass, message }
}

function classOfOne(error: Error): FaultClass | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = byCode[code]
  if (known !== undefined) return known
  if (tlsCode.test(code)) return 'tls'
  if (dnsWords.test(error.message)) return 'dns'
  if (refusedWords.test(error.message)) return 'connect'
  if (resetWords.test(error.message)) return 'reset'
  if (tlsWords.test(error.message)) return 'tls'
  return null
}
