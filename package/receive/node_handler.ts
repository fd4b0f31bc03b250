import { Buffer } from 'node:buffer'
import {
  cutShort,
  type HandlerParts,
  notPost,
  type ReceiverResponse,
  responseHeaders,
  tooLarge,
} from './response.ts'
import { RawBodyError } from './errors.ts'
import type { HeadersIn } from './headers.ts'

/** The parts of Node's IncomingMessage that are used; `body` is what a body parser leaves. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  method?: string | undefined
  headers: HeadersIn
  readableDidRead?: boolean
  body?: unknown
}

/** The parts of Node's ServerResponse that are used. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(text?: string): unknown
}

/** Handles one request of Node's server or of Express. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/** The adapter for the server of Node.js and for Express. */
export function nodeHandler({ receive, failure, mostBytes }: HandlerParts): NodeHandler {
  async function respond(request: NodeRequest): Promise<ReceiverResponse> {
    if (request.method !== 'POST') return notPost
    let body: Uint8Array | null
    try {
      body = await readBody(request, mostBytes)
    } catch (error) {
      return error instanceof RawBodyError ? failure(error, null) : cutShort
    }
    return body === null ? tooLarge(mostBytes) : await receive(request.headers, body)
  }

  return async function handle(request, response): Promise<void> {
    const result = await respond(request)
    const headers = responseHeaders(result)
    // The rest of a body that is too long is not read.
    if (result.status === 413) headers.connection = 'close'
    response.writeHead(result.status, headers)
    response.end(result.detail ?? undefined)
  }
}

/** All bytes; null if there are more than allowed. Throws a RawBodyError if they are gone. */
async function readBody(request: NodeRequest, mostBytes: number): Promise<Uint8Array | null> {
  const { body } = request
  // express.raw() leaves the bytes.
  if (body instanceof Uint8Array) return body.length > mostBytes ? null : body
  if (body !== undefined && body !== null) throw new RawBodyError('parsed')
  if (request.readableDidRead === true) throw new RawBodyError('read')
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving `for await` early would destroy the socket before the response is sent.
  const parts = request[Symbol.asyncIterator]()
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    const bytes = typeof next.value === 'string' ? Buffer.from(next.value) : next.value
    length += bytes.length
    if (length > mostBytes) return null
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
