/** An error that the caller receives as problem details. Handlers and middleware throw it. */
export class ApiError extends Error {
  readonly status: number
  /** Machine-readable and stable. */
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
  /** The path of the invalid member, such as `retry.delays`. */
  field?: string | undefined
  /** What the caller can do about it. */
  remedy?: string | undefined
  /** The step of the saga that failed. */
  saga?: SagaFailure
  headers?: Record<string, string>
  /** Only for the log. */
  cause?: unknown
}

export type SagaFailure = {
  name: string
  /** From 1. */
  step: number
  function: string
  /** The text of the step's error. */
  cause: string
  /** The SQLSTATE of the step's error. */
  sqlState: string
}

/** Each code with its status and title. */
export const errorCodes = {
  invalid_argument: { status: 400, title: 'Invalid argument' },
  unauthenticated: { status: 401, title: 'Not authenticated' },
  forbidden: { status: 403, title: 'Not allowed' },
  consent_required: { status: 403, title: 'Consent required' },
  opted_out: { status: 403, title: 'The recipient has opted out' },
  outside_window: { status: 403, title: 'A template is required' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long' },
  idempotency_conflict: { status: 409, title: 'The key belongs to another request' },
  wrong_state: { status: 409, title: 'The status forbids it' },
  breaker_open: { status: 409, title: 'The breaker is open' },
  organisation_moved: { status: 409, title: 'The organisation is in another project' },
  limit_reached: { status: 409, title: 'A limit of the organisation is reached' },
  version_mismatch: { status: 412, title: 'Changed since it was read' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  saga_failed: { status: 422, title: 'The saga failed' },
  schema_mismatch: { status: 422, title: 'The payload does not fit its schema' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal: { status: 500, title: 'Internal error' },
  module_missing: { status: 501, title: 'Module not installed' },
  contract_mismatch: { status: 503, title: 'Versions do not match' },
  not_configured: { status: 503, title: 'Not configured' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const

export type ErrorCode = keyof typeof errorCodes
