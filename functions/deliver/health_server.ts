import { createServer, type Server } from 'node:http'
import { messageOf } from '../_shared/base/errors.ts'
import type { Health } from './health.ts'

/** The port cannot be opened. Another start may find it free. */
export class PortError extends Error {
  override name = 'PortError'
}

/** The port on which a worker says whether it is ready and alive. */
export type HealthServer = {
  readonly port: number
  close(): Promise<void>
}

/**
 * Listens on all addresses of the machine: `GET /ready` and `GET /live` respond with 200 and "ok", or with 503
 * and what is wrong. Rejects with a `PortError` that names the variable if it cannot listen.
 */
export async function serveHealth(
  { port, health }: { port: number; health: Pick<Health, 'unready' | 'stuck'> },
): Promise<HealthServer> {
  const checks = new Map([['/ready', health.unready], ['/live', health.stuck]])
  const server = createServer((request, response) => {
    const check = checks.get((request.url ?? '').split('?', 1)[0] ?? '')
    const problem = check?.() ?? null
    const status = check === undefined ? 404 : problem === null ? 200 : 503
    const text = check === undefined ? 'only /ready and /live' : problem ?? 'ok'
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' })
    response.end(`${text}\n`)
  })
  // Nobody needs longer to ask.
  server.headersTimeout = 5_000
  server.requestTimeout = 5_000
  server.maxConnections = 32
  await listen(server, port)
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Cannot start: OUTHOOK_HEALTH_PORT: port ${port}: ${messageOf(cause)}`
      reject(new PortError(message, { cause }))
    })
    server.listen(port, resolve)
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
