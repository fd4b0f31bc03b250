import type { Duplex } from 'node:stream'
import { asError } from '../base/errors.ts'
import type { AddressPolicy } from './address.ts'
import { ConnStream } from './conn_stream.ts'
import { checkDial } from './dial.ts'
import type { Resolve } from './lookup.ts'
import { openSocket } from './socket.ts'
import { openTunnel } from './tunnel.ts'

export type ConnectorOptions = {
  policy: AddressPolicy
  /** For DNS, TCP and TLS together. */
  timeoutMs: number
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
}

/**
 * Opens a connection and calls `settle` once, with its stream or an error; never before it has
 * returned. The returned function cancels.
 */
export type Connect = (to: ConnectTo, settle: (result: Duplex | Error) => void) => () => void

/** Creates a function that opens vetted connections, through the policy's proxy if there is one. */
export function createConnector(
  { policy, timeoutMs, proxyAuthorization, ...more }: ConnectorOptions,
): Connect {
  const { proxyUrl = '' } = policy.rules

  return function connect(to, settle): () => void {
    const limit = new AbortController()
    const timer = setTimeout(() => end(timeoutError()), timeoutMs)
    let isSettled = false
    try {
      checkDial({ ...to, policy })
      if (proxyUrl === '') connectDirectly()
      else connectThroughProxy()
    } catch (cause) {
      queueMicrotask(() => end(asError(cause)))
    }
    return () => end(closedError())

    function connectDirectly(): void {
      const socket = openSocket({ ...to, policy, alpn: ['http/1.1'], ...more })
      socket.on('error', end)
      // Deno does not always report an error if the peer closes during the TLS handshake.
      socket.once('close', () => end(closedError()))
      socket.once(to.tls ? 'secureConnect' : 'connect', () => end(socket))
      limit.signal.addEventListener('abort', () => socket.destroy())
    }

    function connectThroughProxy(): void {
      const tunnel = { ...to, proxyUrl, authorization: proxyAuthorization, ca: more.ca }
      openTunnel({ ...tunnel, signal: limit.signal }).then((conn) => {
        if (isSettled) conn.close()
        else end(new ConnStream(conn))
      }, (cause) => end(asError(cause)))
    }

    function end(result: Duplex | Error): void {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      if (result instanceof Error) limit.abort()
      settle(result)
    }
  }
}

function timeoutError(): Error {
  return Object.assign(new Error('The connection timed out'), { code: 'ETIMEDOUT' })
}

function closedError(): Error {
  return Object.assign(new Error('The connection was closed before it was established'), {
    code: 'ECONNRESET',
  })
}
