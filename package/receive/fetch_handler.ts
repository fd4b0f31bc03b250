import {
  cutShort,
  type HandlerParts,
  notPost,
  type ReceiverResponse,
  responseHeaders,
  tooLarge,
} from './response.ts'
import { RawBodyError } from './errors.ts'

/** The adapter for servers that have Request and Response. */
export function fetchHandler(
  { receive, failure, mostBytes }: HandlerParts,
): (request: Request) => Promise<Response> {
  async function respond(request: Request): Promise<ReceiverResponse> {
    if (request.method !== 'POST') return notPost
    if (request.bodyUsed || request.body?.locked === true) {
      return failure(new RawBodyError('read'), null)
    }
    let body: Uint8Array | null
    try {
      body = await readBody(request, mostBytes)
    } catch {
      return cutShort
    }
    return body === null ? tooLarge(mostBytes) : await receive(request.headers, body)
  }

  return async function handle(request): Promise<Response> {
    const result = await respond(request)
    const headers = responseHeaders(result)
    return new Response(result.detail, { status: result.status, headers })
  }
}

/** All bytes; null if there are more than allowed. */
async function readBody(request: Request, mostBytes: number): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length
    if (length > mostBytes) {
      await reader.cancel()
      return null
    }
    chunks.push(next.value)
  }
  return join(chunks, length)
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
