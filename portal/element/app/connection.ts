import { type Client, createClient } from '../../../package/client/client.ts'
import { ApiError, ConnectionError, problemOf } from '../../../package/client/errors.ts'
import { TokenKeeper, type TokenSource } from './token.ts'

/** The way to the API with a token that renews itself. */
export interface Connection {
  client: Client
  keeper: TokenKeeper
  /** The text of a response, for members that must be shown as they are written. */
  readText(path: string, signal: AbortSignal): Promise<string>
}

export interface ConnectionOptions {
  /** The URL of the project. */
  url: string
  functionName: string
  token: TokenSource | string
  changed(error: unknown): void
  /** More headers of each request. */
  headers?: () => Record<string, string>
}

export function connect(
  { url, functionName, token, changed, headers: more = () => ({}) }: ConnectionOptions,
): Connection {
  const keeper = new TokenKeeper(token, changed)

  async function send(request: Request): Promise<Response> {
    for (const [name, value] of Object.entries(more())) request.headers.set(name, value)
    const repeat = request.clone()
    const response = await fetch(request)
    const used = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    if (response.status !== 401) {
      keeper.accept(used)
      return response
    }
    let next: string
    try {
      next = await keeper.replace(used)
    } catch {
      // The page says that the customer has to sign in again.
      return response
    }
    await response.body?.cancel()
    repeat.headers.set('authorization', `Bearer ${next}`)
    const second = await fetch(repeat)
    if (second.status === 401) keeper.refuse(next)
    else keeper.accept(next)
    return second
  }

  async function readText(path: string, signal: AbortSignal): Promise<string> {
    const address = `${url.replace(/\/+$/, '')}/functions/v1/${functionName}/v1${path}`
    const headers = { authorization: `Bearer ${await keeper.get()}` }
    let response: Response
    let text: string
    try {
      response = await send(new Request(address, { headers, signal, credentials: 'omit' }))
      text = await response.text()
    } catch (cause) {
      signal.throwIfAborted()
      throw new ConnectionError('network', 'The API cannot be reached', { cause })
    }
    if (!response.ok) throw new ApiError(response.status, problemOf(parsed(text)), null)
    return text
  }

  const client = createClient({
    url,
    functionName,
    token: () => keeper.get(),
    // TanStack Query repeats what may be repeated.
    retries: 0,
    fetch: send,
  })
  return { client, keeper, readText }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
