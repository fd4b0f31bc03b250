/** Why an exchange over HTTP/1.1 failed; `code` sorts it as the system's codes do. */
export class HttpError extends Error {
  override readonly name = 'HttpError'

  constructor(
    /** OUTHOOK_HTTP: not HTTP/1.1. OUTHOOK_HEAD: a head that is too long. */
    readonly code: 'OUTHOOK_HTTP' | 'OUTHOOK_HEAD' | 'ECONNRESET',
    message: string,
  ) {
    super(message)
  }
}

/** What was sent is not HTTP/1.1, or not such as we may send or read. */
export function malformed(message: string): HttpError {
  return new HttpError('OUTHOOK_HTTP', message)
}

/** The peer closed the connection before the answer was whole. */
export function closedEarly(): HttpError {
  return new HttpError('ECONNRESET', 'The connection was closed before an answer came')
}
