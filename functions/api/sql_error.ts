import { z } from 'zod'
import { isTemporarySqlState } from '../_shared/database/dispatch.ts'
import type { SqlError } from '../_shared/database/functions.ts'
import { type MissingModule, missingModule } from '../_shared/database/modules.ts'
import { isMissingFunction, sameVersionAdvice } from '../_shared/database/versions.ts'
import { ApiError, type ErrorCode } from './errors.ts'

/** SQLSTATEs whose texts the caller receives. */
const known: Record<string, ErrorCode> = {
  OH001: 'invalid_argument',
  OH002: 'not_found',
  OH003: 'idempotency_conflict',
  OH004: 'wrong_state',
  OH005: 'invalid_argument',
  OH006: 'breaker_open',
  OH008: 'version_mismatch',
  OH009: 'forbidden',
  OH010: 'limit_reached',
  OH012: 'organisation_moved',
}

/** Class 22: a NUL or half a surrogate pair in a text, a number out of range. */
const dataException = /^22/

/** Whether an error means that the database cannot store a value, but not which one. */
export function isDataException({ code, field, cause }: ApiError): boolean {
  return code === 'invalid_argument' && field === undefined && typeof cause === 'object' &&
    cause !== null && 'code' in cause && dataException.test(String(cause.code))
}

/**
 * The error for the caller after the SQL function `name` failed. `status` is the HTTP status of the
 * response, 0 without a response.
 */
export function readSqlError(name: string, error: SqlError, status: number): ApiError {
  const code = known[error.code]
  if (code !== undefined) return readOwnError(code, error)
  if (error.code === 'OH007') return readSagaError(error)
  if (error.code === 'OH011') return readDailyLimit(error)
  if (dataException.test(error.code)) {
    return new ApiError('invalid_argument', 'The database cannot store one of the values', {
      remedy: 'Send numbers within their range, and text without NUL and lone surrogates',
      cause: error,
    })
  }
  if (
    status === 0 || status === 408 || status === 429 || status === 502 || status === 503 ||
    status === 504 || isTemporarySqlState(error.code) || error.code.startsWith('PGRST00')
  ) {
    return new ApiError('unavailable', 'The database cannot be reached or is busy', {
      remedy: 'Send the request again after 1 s',
      headers: { 'retry-after': '1' },
      cause: error,
    })
  }
  if (isMissingFunction(error)) {
    const missing = missingModule(name, error)
    return missing === null
      ? versionsDiffer(error)
      : moduleMissing(missing, `There is no outbox.${name}`)
  }
  return new ApiError(
    'internal',
    'The request failed; see the log of the function for this requestId',
    {
      cause: error,
    },
  )
}

/** The error if a module is not installed; `why` is for the log. */
export function moduleMissing({ problem, remedy }: MissingModule, why: string): ApiError {
  return new ApiError('module_missing', problem, {
    remedy: `Ask the operator: ${remedy}`,
    cause: new Error(`${why}: ${problem}; ${remedy}`),
  })
}

/** The error if the API and its database have different versions. */
export function versionsDiffer(cause: unknown): ApiError {
  return new ApiError(
    'contract_mismatch',
    'The API and its database have versions that do not work together',
    {
      remedy: `Ask the operator: ${sameVersionAdvice}`,
      cause,
    },
  )
}

function readOwnError(code: ErrorCode, error: SqlError): ApiError {
  const { details, message, hint } = error
  const remedy = hint === null || hint === '' ? undefined : hint
  if (details === null || details === '' || code !== 'invalid_argument') {
    return new ApiError(code, message, { remedy, cause: error })
  }
  const field = toWireName(details)
  const detail = message.startsWith(details) ? field + message.slice(details.length) : message
  return new ApiError(code, detail, { field, remedy, cause: error })
}

/** A limit of the day: outbox.refuse_for_today() writes the seconds until the next day into the details. */
function readDailyLimit({ message, hint, details }: SqlError): ApiError {
  const seconds = /^[1-9]\d{0,4}$/.test(details ?? '') ? String(details) : '3600'
  return new ApiError('rate_limited', message, {
    remedy: hint ?? undefined,
    headers: { 'retry-after': seconds },
  })
}

/** The details that outbox.run_step() writes. Details of a step's own may be confidential. */
const sagaFailure = z.object({
  saga: z.string(),
  step: z.int(),
  function: z.string(),
  code: z.string(),
  cause: z.string(),
}).transform(({ saga, code, ...more }) => ({ name: saga, sqlState: code, ...more }))

function readSagaError(error: SqlError): ApiError {
  const remedy = error.hint === null || error.hint === '' ? undefined : error.hint
  const read = sagaFailure.safeParse(parse(error.details ?? ''))
  return new ApiError('saga_failed', error.message, {
    remedy,
    ...read.success ? { saga: read.data } : {},
    cause: error,
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `retry.base_delay` -> `retry.baseDelay`; the caller's own header names stay. */
export function toWireName(name: string): string {
  if (name.startsWith('headers.')) return name
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
