import { ApiError, ConnectionError } from '../../../package/client/errors.ts'

/** A request that failed, with what the page says about it. */
export interface Failure {
  /** 0: there was no response. */
  status: number
  message: string
  remedy: string | null
}

/** The token could not be renewed. */
export class TokenError extends Error {
  override name = 'TokenError'
}

/** What the page says about an error; the text of the API, or null for a missing response. */
export function asFailure(error: unknown): Failure | null {
  if (error instanceof ApiError) {
    return {
      status: error.status,
      message: error.problem?.detail ?? error.message,
      remedy: error.remedy,
    }
  }
  if (error instanceof ConnectionError || !(error instanceof Error)) return null
  return { status: -1, message: error.message, remedy: null }
}

/** Whether the request failed because there is no valid token. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof TokenError || error instanceof ApiError && error.status === 401
}

/** Whether the same request may succeed later. */
export function mayPass(error: unknown): boolean {
  if (error instanceof TokenError) return false
  const failure = asFailure(error)
  return failure === null || failure.status === 429 || failure.status >= 500
}
