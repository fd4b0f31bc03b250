import type { Client as FetchClient } from 'openapi-fetch'
import { ApiError, ConnectionError, problemOf } from './errors.ts'
import { rememberEtag } from './etag.ts'
import type { Operation } from './operation.ts'
import { retryAfterMs } from './retry.ts'

/** The parts of a request, as any operation may have them. */
export interface AnyInput {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/** A client of openapi-fetch for any path: the types of operation_types.ts check the calls. */
export type AnyFetchClient = FetchClient<Record<string, Record<string, unknown>>>

export interface Attempt {
  operation: Operation
  input: AnyInput
  headers: Record<string, string>
  /** The caller's signal. */
  signal: AbortSignal | undefined
  timeoutMs: number
}

/**
 * Sends a request once. Throws an ApiError or a ConnectionError, or the reason of the caller's signal.
 */
export async function attempt(
  client: AnyFetchClient,
  { operation: { method, path }, input, headers, signal, timeoutMs }: Attempt,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const { body } = input
  const init = {
    params: { path: checkedPath(path, input.path), query: input.query ?? {} },
    // A body or a header that cannot be sent is an error of the caller, and no repeat mends it.
    ...body === undefined ? {} : { body: JSON.stringify(body), bodySerializer: unchanged },
    headers: new Headers(headers),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }
  let result: { data?: unknown; error?: unknown; response: Response }
  try {
    // SAFETY: openapi-fetch derives the type of `init` from the paths, which are not known here.
    const request = client.request as unknown as (
      method: string,
      path: string,
      init: unknown,
    ) => Promise<{ data?: unknown; error?: unknown; response: Response }>
    result = await request(method.toLowerCase(), path, init)
  } catch (error) {
    signal?.throwIfAborted()
    throw connectionError(error, timeout.aborted, timeoutMs)
  }
  const { data, error, response } = result
  if (!response.ok) {
    const wait = retryAfterMs(response.headers.get('retry-after'), Date.now())
    throw new ApiError(response.status, problemOf(error), wait)
  }
  rememberEtag(data, response)
  return data
}

function unchanged(body: string): string {
  return body
}

/** The parameters of the path. Throws a TypeError for one that would name another path. */
function checkedPath(path: string, given: AnyInput['path'] = {}): Record<string, unknown> {
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const value = given[name]
    const isPart = typeof value === 'number' ||
      (typeof value === 'string' && !['', '.', '..'].includes(value))
    if (!isPart) throw new TypeError(`path.${name} is ${JSON.stringify(value)}`)
  }
  return given
}

function connectionError(error: unknown, timedOut: boolean, timeoutMs: number): ConnectionError {
  if (timedOut) {
    return new ConnectionError('timeout', `The API did not respond within ${timeoutMs} ms`, {
      cause: error,
    })
  }
  if (error instanceof SyntaxError) {
    return new ConnectionError('response', 'The response is not JSON: check the URL', {
      cause: error,
    })
  }
  return new ConnectionError('network', 'The API cannot be reached: check the URL', {
    cause: error,
  })
}
