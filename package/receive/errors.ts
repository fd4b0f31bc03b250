/** Why a request is not an authentic webhook, for programs. */
export type WebhookProblem =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'too_old'
  | 'too_new'
  | 'wrong_signature'
  | 'invalid_body'

/** A request that is not an authentic webhook of this endpoint. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'

  constructor(readonly code: WebhookProblem, message: string) {
    super(message)
  }
}

/** The bytes of the body are gone, so no signature can be verified. The message names the remedy. */
export class RawBodyError extends Error {
  override readonly name = 'RawBodyError'

  constructor(cause: 'parsed' | 'read') {
    const what = cause === 'parsed'
      ? 'The body was parsed before the receiver got the request'
      : 'The body was read before the receiver got the request'
    super(
      `${what}. A signature covers the raw bytes. Express: add the receiver before express.json(), ` +
        "or use express.raw({ type: 'application/json' }) for its path. Next.js with pages: export " +
        'config = { api: { bodyParser: false } }. Others: pass the unread request.',
    )
  }
}
