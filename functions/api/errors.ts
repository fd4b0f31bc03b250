/** An error that the caller is told of, as problem details. Thrown by handlers and middleware. */
export class ApiError extends Error {
  readonly status: number
  /** Stable: what programs switch on. */
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly remedy: string | undefined
  readonly saga: SagaFailure | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, detail: string, more: ErrorMore = {}) {
    super(detail, more.cause === undefined ? {} : { cause: more.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = errorCodes[code].status
    this.field = more.field
    this.remedy = more.remedy
    this.saga = more.saga
    this.headers = more.headers ?? {}
  }
}

export type ErrorMore = {
  /** The path of the member that is wrong, such as `retry.delays`. */
  field?: string | undefined
  /** What the caller can do about it. */
  remedy?: string | undefined
  /** Which step of which saga failed. */
  saga?: SagaFailure
  headers?: Record<string, string>
  /** For the log alone. */
  cause?: unknown
}

/** Where a saga failed, and why. */
export type SagaFailure = {
  name: string
  /** From 1. */
  step: number
  function: string
  /** What the step raised. */
  cause: string
  /** The SQLSTATE of what it raised. */
  sqlState: string
}

/** Every code with its status and its title. */
export const errorCodes = {
  invalid_argument: { status: 400, title: 'Invalid argument' },
  unauthenticated: { status: 401, title: 'Not authenticated' },
  forbidden: { status: 403, title: 'Not allowed' },
  consent_required: { status: 403, title: 'Consent required' },
  opted_out: { status: 403, title: 'The recipient has opted out' },
  outside_window: { status: 403, title: 'A template is needed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long' },
  idempotency_conflict: { status: 409, title: 'The key was used for another request' },
  wrong_state: { status: 409, title: 'The status forbids it' },
  breaker_open: { status: 409, title: 'The breaker is open' },
  version_mismatch: { status: 412, title: 'Changed by somebody else' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  saga_failed: { status: 422, title: 'A step of the saga failed' },
  schema_mismatch: { status: 422, title: 'The payload does not fit its schema' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal: { status: 500, title: 'Internal error' },
  module_missing: { status: 501, title: 'Module not installed' },
  contract_mismatch: { status: 503, title: 'Different versions' },
  not_configured: { status: 503, title: 'Not configured' },
  unavailable: { status: 503, title: 'Not available now' },
} as const

export type ErrorCode = keyof typeof errorCodes
