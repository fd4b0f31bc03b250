import type { TestOuthook } from './outhook.ts'

/** One answer of the API; `body` is what its JSON says, null for none. */
export interface ApiAnswer {
  status: number
  headers: Headers
  // deno-lint-ignore no-explicit-any -- tests look into answers of every shape
  body: any
}

/** What a test sends, besides method and path. */
export interface ApiCall {
  body?: unknown
  headers?: Record<string, string>
  /** A token instead of the secret key; null for no credentials at all. */
  token?: string | null
}

/** Calls the API of a test's stack, by default with its secret key. */
export function apiCaller(
  { stack }: TestOuthook,
): (request: string, call?: ApiCall) => Promise<ApiAnswer> {
  return async function callApi(request, { body, headers = {}, token } = {}): Promise<ApiAnswer> {
    const [method = 'GET', path = ''] = request.split(' ')
    const credentials: Record<string, string> = token === null
      ? {}
      : token === undefined
      ? { apikey: stack.keys.secretKey }
      : { authorization: `Bearer ${token}` }
    const response = await fetch(`${stack.apiUrl}/functions/v1/api/v1${path}`, {
      method,
      headers: {
        ...credentials,
        ...body === undefined ? {} : { 'content-type': 'application/json' },
        ...headers,
      },
      ...body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) },
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    }
  }
}
