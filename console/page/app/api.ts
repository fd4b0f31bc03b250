import { type Client, createClient } from '../../../package/client/client.ts'
import { ApiError, ConnectionError } from '../../../package/client/errors.ts'
import { isSignedOut as isTokenLost } from '../../../portal/element/app/failure.ts'
import { connection } from './hosting.ts'
import { currentPlace, orgOf } from './location.ts'
import { apiFetch, bodyOf, Failure, failureOf } from './request.ts'

/**
 * The client of the API. Its requests go to the server of the console, which adds the secret key. The
 * page has no key: the cookie of the session identifies it. A hosted page has a client with a token.
 */
export const api: Client = connection?.client ?? createClient({
  url: location.origin,
  token: 'of the session',
  // TanStack Query repeats what may be repeated.
  retries: 0,
  async fetch(request): Promise<Response> {
    const url = request.url.replace('/functions/v1/api/', '/api/')
    const headers = new Headers(request.headers)
    headers.delete('authorization')
    headers.set('x-org-id', orgOf(currentPlace()))
    const body = request.method === 'GET' ? {} : { body: await request.text() }
    return await apiFetch(
      new Request(url, { method: request.method, headers, signal: request.signal, ...body }),
    )
  },
})

/** The text of a response, for members that must be shown as they are written. */
export async function readText(path: string, signal: AbortSignal): Promise<string> {
  if (connection !== null) return await connection.readText(path.replace('/api/v1', ''), signal)
  const headers = { 'x-org-id': orgOf(currentPlace()) }
  const response = await apiFetch(new Request(path, { headers, signal }))
  if (!response.ok) throw await failureOf(response)
  return await bodyOf(response)
}

/** What the page says about an error of the client. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (connection !== null && isTokenLost(error)) {
    return new Failure(401, 'unauthenticated', 'You are signed out', 'Sign in again')
  }
  if (error instanceof ApiError) {
    return new Failure(
      error.status,
      error.code,
      error.problem?.detail ?? error.message,
      error.remedy,
    )
  }
  if (error instanceof ConnectionError && error.cause instanceof Failure) return error.cause
  const message = error instanceof Error ? error.message : String(error)
  return new Failure(0, 'unknown', message, null)
}
