import type { StaticFile } from '../build/build.ts'
import { createHandler } from './handler.ts'
import type { Upstream } from './proxy.ts'
import { createSessions } from './sessions.ts'

/** A running console. */
export interface RunningConsole {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  /** A link that opens the console in one browser, once. */
  newLink(): string
  stop(): Promise<void>
}

/** Serves the console on the loopback; port 0 takes any free one. */
export function serveConsole(
  { files, upstream, port }: {
    files: ReadonlyMap<string, StaticFile>
    upstream: Upstream
    port: number
  },
): RunningConsole {
  const sessions = createSessions()
  const server = Deno.serve({ hostname: '127.0.0.1', port, onListen(): void {} }, (request) => {
    // Called with the first request, after the port is known.
    return handle(request)
  })
  const handle = createHandler({
    files,
    upstream,
    sessions,
    port: server.addr.port,
    label: new URL(upstream.url).host,
  })
  const url = `http://127.0.0.1:${server.addr.port}`
  return {
    url,
    // The browser sends no fragment to any server, and the page removes it.
    newLink: () => `${url}/#token=${sessions.newLink()}`,
    stop: () => server.shutdown(),
  }
}
