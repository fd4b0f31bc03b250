import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StaticFile } from '../../../console/build/build.ts'
import { createHandler } from '../../../console/server/handler.ts'
import type { Upstream } from '../../../console/server/proxy.ts'
import { createSessions } from '../../../console/server/sessions.ts'

/** A running console. */
export interface RunningConsole {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  /** A link that opens the console in one browser, once. */
  newLink(): string
  stop(): Promise<void>
}

/**
 * Serves the console on the loopback with the modules of Node; port 0 takes any free one. Rejects with the
 * error of Node if it cannot listen.
 */
export async function serveConsole(
  { files, upstream, port }: {
    files: ReadonlyMap<string, StaticFile>
    upstream: Upstream
    port: number
  },
): Promise<RunningConsole> {
  const sessions = createSessions()
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : port
  const url = `http://127.0.0.1:${own}`
  const label = new URL(upstream.url).host
  const handle = createHandler({ files, upstream, sessions, port: own, label })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const request = requestOf(incoming, url)
      if (request === null) outgoing.writeHead(400).end()
      else await send(await handle(request), outgoing)
    } catch {
      // The browser has left, or sent what is no request.
      outgoing.destroy()
    } finally {
      // What was not read is thrown away: a browser reads the response when it has sent everything.
      incoming.resume()
    }
  }

  return {
    url,
    // The browser sends no fragment to any server, and the page removes it.
    newLink: () => `${url}/#token=${sessions.newLink()}`,
    async stop(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The request for the handler; null if its target is not a path. */
function requestOf(incoming: IncomingMessage, base: string): Request | null {
  const { url = '', method = 'GET', rawHeaders } = incoming
  if (!url.startsWith('/')) return null
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    duplex: 'half',
    // Readable.toWeb() throws outside of any promise if a body goes on after its stream was cancelled. Without
    // `destroyOnReturn`, a cancelled body would end the connection before the response.
    ...hasBody ? { body: ReadableStream.from(incoming.iterator({ destroyOnReturn: false })) } : {},
  }
  return new Request(base + url, init)
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) {
    outgoing.end()
    return
  }
  // SAFETY: the stream of the web is the one of Node.
  const body = response.body as unknown as Parameters<typeof Readable.fromWeb>[0]
  await pipeline(Readable.fromWeb(body), outgoing)
}
