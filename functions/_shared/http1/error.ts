/** Why an HTTP/1.1 request failed; `code` classifies it like a system code. */
export class HttpError extends Error {
  override readonly name = 'HttpError'

  constructor(
    /** OUTHOOK_HTTP: not valid HTTP/1.1. OUTHOOK_HEAD: a head that is too long. */
    readonly code: 'OUTHOOK_HTTP' | 'OUTHOOK_HEAD' | 'ECONNRESET',
    message: string,
  ) {
    super(message)
  }
}

/** Data that is not valid HTTP/1.1, or a request that must not be sent. */
export function malformed(message: string): HttpError {
  return new HttpError('OUTHOOK_HTTP', message)
}

/** The peer closed the connection before the response was complete. */
export function closedEarly(): HttpError {
  return new HttpError('ECONNRESET', 'The connection was closed before the response')
}
