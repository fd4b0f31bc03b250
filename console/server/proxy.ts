import { readBody } from './body.ts'
import { problemResponse } from './problem.ts'

/** The API that the console shows. */
export interface Upstream {
  /** The base URL of the function `api`, such as `http://127.0.0.1:54321/functions/v1/api`. */
  url: string
  /** The secret key. It stays in this process. */
  secretKey: string
}

const passedOn = ['accept', 'content-type', 'idempotency-key', 'if-match', 'x-org-id']
const passedBack = ['content-type', 'etag', 'location', 'retry-after']

/** The largest body that the API accepts. */
const maxBodyBytes = 4 * 1024 * 1024

/**
 * Sends a request for `/api/…` to the API with the secret key, and returns its response. Only the
 * named headers pass, so that neither the cookie nor what the browser says of itself reaches the API,
 * which refuses secret keys from browsers.
 */
export async function proxyRequest(
  request: Request,
  { url, secretKey }: Upstream,
  timeoutMs = 35_000,
): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (!isApiPath(pathname)) {
    return problemResponse(404, 'not_found', 'The API has no such path')
  }
  const headers = new Headers({ apikey: secretKey, 'user-agent': 'outhook-console' })
  for (const name of passedOn) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const body = request.body === null ? undefined : await readBody(request, maxBodyBytes)
  if (body === null) return tooLarge()
  try {
    const response = await fetch(url + pathname.slice('/api'.length) + search, {
      method: request.method,
      headers,
      // A redirect would take the key to another address.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...body === undefined ? {} : { body },
    })
    const back = new Headers()
    for (const name of passedBack) {
      const value = response.headers.get(name)
      if (value !== null) back.set(name, value)
    }
    return new Response(response.body, { status: response.status, headers: back })
  } catch {
    return problemResponse(
      502,
      'unavailable',
      `The API at ${new URL(url).origin} does not respond`,
      {
        remedy: 'Start it, for example with: npx -y deno@2.9.6 task stack',
      },
    )
  }
}

/**
 * Whether the path is one of the API. A gateway may decode `%2e` or `%2f` before it selects the
 * function, so a path that climbs after decoding does not get the key.
 */
function isApiPath(pathname: string): boolean {
  if (!pathname.startsWith('/api/v1/')) return false
  try {
    return !decodeURIComponent(pathname).split(/[/\\]/).some((part) => /^\.{1,2}$/.test(part))
  } catch {
    return false
  }
}

function tooLarge(): Response {
  return problemResponse(413, 'too_large', `The body has more than ${maxBodyBytes} bytes`)
}
