import type { components } from './openapi.types.ts'

/** A problem detail (RFC 9457) of the API. */
export type Problem = components['schemas']['Problem']

/** The kinds of problem, for programs; `unknown` if something before the API responded. */
export type ProblemCode = Problem['code'] | 'unknown'

/** Each error of the client is one of these. */
export class OuthookError extends Error {
  override readonly name: string = 'OuthookError'
}

/** The API refused the request. */
export class ApiError extends OuthookError {
  override readonly name = 'ApiError'
  readonly code: ProblemCode
  /** The invalid member, parameter or header. */
  readonly field: string | null
  /** How to correct the request. */
  readonly remedy: string | null
  /** The id of the request in the log of the API. */
  readonly requestId: string | null

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The whole problem detail; null if the response was not one. */
    readonly problem: Problem | null,
    /** How long the API asked to wait; null if it did not. */
    readonly retryAfterMs: number | null,
  ) {
    const remedy = problem?.remedy === undefined ? '' : `: ${problem.remedy}`
    super(
      problem === null ? unknownResponse(status) : `${problem.detail}${remedy}`,
    )
    this.code = problem?.code ?? 'unknown'
    this.field = problem?.field ?? null
    this.remedy = problem?.remedy ?? null
    this.requestId = problem?.requestId ?? null
  }
}

function unknownResponse(status: number): string {
  // The API describes each of its refusals, so something before it has responded.
  const remedy = status === 404 ? ': check url and functionName' : ''
  return `The API responded with ${status}${remedy}`
}

/** There was no response, or none that can be read. The API may have carried out the request. */
export class ConnectionError extends OuthookError {
  override readonly name = 'ConnectionError'

  constructor(
    readonly kind: 'network' | 'timeout' | 'response',
    message: string,
    options: ErrorOptions = {},
  ) {
    super(message, options)
  }
}

/** The problem detail in a parsed response; null if it is something else. */
export function problemOf(body: unknown): Problem | null {
  const isProblem = typeof body === 'object' && body !== null &&
    'code' in body && typeof body.code === 'string' &&
    'detail' in body && typeof body.detail === 'string'
  // SAFETY: the API describes all its problem details; the members that are read are checked.
  return isProblem ? body as Problem : null
}
