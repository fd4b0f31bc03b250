/** A server that takes messages by the protocol of ntfy: https://docs.ntfy.sh/publish/#publish-as-json. */

import { z } from 'zod'

/** A message that the server took. */
export interface Message {
  topic: string
  title: string
  message: string
  priority: number
}

export interface NtfyServer extends AsyncDisposable {
  readonly url: string
  /** What it took, in order. */
  readonly messages: Message[]
  /** The access tokens that it knows. */
  readonly tokens: Set<string>
  /** Topics to which no token may write. */
  readonly closed: Set<string>
  /** The responses to the next requests, before anything else is checked. */
  readonly next: Response[]
}

/** An error as ntfy reports it. */
export function ntfyError(code: number, error: string): Response {
  const http = Math.floor(code / 100)
  return Response.json({ code, http, error }, { status: http })
}

const publication = z.object({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: z.string(),
  message: z.string().refine((text) => new TextEncoder().encode(text).length <= 4_096),
  priority: z.int().min(1).max(5),
})

/** Starts it on a free port. */
export function startNtfy(): NtfyServer {
  const messages: Message[] = []
  const tokens = new Set<string>()
  const closed = new Set<string>()
  const next: Response[] = []

  async function publish(request: Request): Promise<Response> {
    const prepared = next.shift()
    if (prepared !== undefined) {
      await request.body?.cancel()
      return prepared
    }
    const read = publication.safeParse(await request.json())
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
    if (!tokens.has(token)) return ntfyError(40101, 'unauthorized')
    if (!read.success) return ntfyError(40017, 'invalid request: request body must be message JSON')
    if (closed.has(read.data.topic)) return ntfyError(40301, 'forbidden')
    messages.push(read.data)
    const id = `message${messages.length}`
    return Response.json({
      id,
      time: Math.floor(Date.now() / 1_000),
      event: 'message',
      ...read.data,
    })
  }

  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, publish)
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    messages,
    tokens,
    closed,
    next,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }
}
