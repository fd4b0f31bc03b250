import type { Duplex } from 'node:stream'
import { asError } from '../base/errors.ts'
import type { Conn } from '../runtime/runtime.ts'
import type { AddressPolicy } from './address.ts'
import { checkDial } from './dial.ts'
import type { Resolve } from './share_lookups.ts'
import { openSocket } from './socket.ts'
import { openSecure } from './secure.ts'
import { openTunnel } from './tunnel.ts'

export type ConnectorOptions = {
  policy: AddressPolicy
  resolve?: Resolve
  /** Certificates (PEM) to trust instead of the default roots. */
  ca?: string | undefined
  /** Credentials for a proxy that requires them, as `Basic <base64>`. */
  proxyAuthorization?: string | undefined
}

/** The target of a connection. */
export type ConnectTo = {
  /** A name, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
  /** Whose endpoint it is: lookups of names take turns between organisations. Absent: the operator's. */
  org?: string | undefined
}

/**
 * Opens a connection and calls `settle` once, with its stream or an error; never before it has
 * returned. `timeoutMs` is for DNS, TCP and TLS together. A lookup may wait for others for half of it: then the
 * error is a LookupWaitError, and never that the receiver took too long. The returned function cancels.
 */
export type Connect = (
  to: ConnectTo,
  timeoutMs: number,
  settle: (result: Duplex | Error) => void,
) => () => void

/** The connection was not open in time. */
export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError'
  readonly code = 'OUTHOOK_CONNECT'

  constructor() {
    super('The connection was not open in time: DNS, TCP and TLS took too long')
  }
}

/** Creates a function that opens vetted connections, through the policy's proxy if there is one. */
export function createConnector(
  { policy, proxyAuthorization, ...more }: ConnectorOptions,
): Connect {
  const { proxyUrl = '' } = policy.rules

  return function connect(to, timeoutMs, settle): () => void {
    const asker = { org: to.org, waitMs: timeoutMs / 2 }
    const limit = new AbortController()
    const timer = setTimeout(() => end(new ConnectTimeoutError()), timeoutMs)
    let isSettled = false
    try {
      checkDial({ ...to, policy })
      if (proxyUrl !== '') connectThroughProxy()
      else if (to.tls) use(openSecure({ ...to, asker, policy, ...more, signal: limit.signal }))
      else connectPlainly()
    } catch (cause) {
      queueMicrotask(() => end(asError(cause)))
    }
    return () => end(closedError())

    function connectPlainly(): void {
      const socket = openSocket({ ...to, asker, policy, ...more })
      socket.on(
        'error',
        (error: Error) => end(isTimeout(error) ? new ConnectTimeoutError() : error),
      )
      socket.once('close', () => end(closedError()))
      socket.once('connect', () => end(socket))
      limit.signal.addEventListener('abort', () => socket.destroy())
    }

    function connectThroughProxy(): void {
      const tunnel = { ...to, proxyUrl, authorization: proxyAuthorization, ca: more.ca }
      use(openTunnel({ ...tunnel, signal: limit.signal }))
    }

    function use(opening: Promise<Conn>): void {
      opening.then((conn) => {
        if (isSettled) conn.close()
        else end(conn.toStream())
      }, (cause) => end(asError(cause)))
    }

    function end(result: Duplex | Error): void {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      if (!(result instanceof Error)) return settle(result)
      limit.abort()
      settle(isTimeout(result) ? new ConnectTimeoutError() : result)
    }
  }
}

/** The limit of the operating system for TCP. */
function isTimeout(error: Error): boolean {
  return 'code' in error && error.code === 'ETIMEDOUT'
}

function closedError(): Error {
  return Object.assign(new Error('The connection was closed before it was established'), {
    code: 'ECONNRESET',
  })
}
