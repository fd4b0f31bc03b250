import { messageOf } from '../errors.ts'

/** A row of net.http_request_queue. */
export interface NetRequest {
  id: string
  method: string
  url: string
  headers: Record<string, string> | null
  body: Uint8Array<ArrayBuffer> | null
  timeout_milliseconds: number
}

/** A row of net._http_response without its time. */
export interface NetResponse {
  id: string
  status_code: number | null
  content_type: string | null
  headers: Record<string, string> | null
  content: string | null
  timed_out: boolean
  error_msg: string | null
}

/**
 * Sends one request, follows redirects, and applies the request's timeout to the whole. A failure is a
 * response with `error_msg`. Rejects only when `stopping` is aborted.
 */
export async function performRequest(
  request: NetRequest,
  { client, stopping }: { client: Deno.HttpClient; stopping: AbortSignal },
): Promise<NetResponse> {
  const timeout = AbortSignal.timeout(request.timeout_milliseconds)
  const started = performance.now()
  try {
    const response = await fetch(request.url, {
      method: request.method.toUpperCase(),
      headers: { 'user-agent': 'pg_net/local', ...request.headers },
      body: request.body,
      signal: AbortSignal.any([timeout, stopping]),
      client,
    })
    return {
      id: request.id,
      status_code: response.status,
      content_type: response.headers.get('content-type'),
      headers: Object.fromEntries(response.headers),
      content: untilNul(await response.text()),
      timed_out: false,
      error_msg: null,
    }
  } catch (error) {
    stopping.throwIfAborted()
    return {
      id: request.id,
      status_code: null,
      content_type: null,
      headers: null,
      content: null,
      timed_out: timeout.aborted,
      error_msg: timeout.aborted
        ? timeoutText(request.timeout_milliseconds, performance.now() - started)
        : untilNul(messageOf(error)),
    }
  }
}

/** The text of pg_net, which contains the duration: so two timeouts never have the same text. */
function timeoutText(limitMs: number, tookMs: number): string {
  const took = tookMs.toFixed(6)
  return `Timeout of ${limitMs} ms reached. Total time: ${took} ms (DNS time: 0.000000 ms, TCP/SSL ` +
    `handshake time: 0.000000 ms, HTTP Request/Response time: ${took} ms)`
}

/** Text that Postgres can store; pg_net cuts at the first NUL too. */
function untilNul(text: string): string {
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}
