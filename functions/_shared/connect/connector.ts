import type { Duplex } from 'node:stream'
import { asError } from '../base/errors.ts'
import type { AddressPolicy } from './address.ts'
import { ConnStream } from './conn_stream.ts'
import { BlockedAddressError, type Resolve } from './lookup.ts'
import { openSocket } from './socket.ts'
import { isAllowedHost } from './target.ts'
import { openTunnel } from './tunnel.ts'

export type ConnectorOptions = {
  policy: AddressPolicy
  /** For name, TCP and TLS together. */
  timeoutMs: number
  resolve?: Resolve
  /** Certificates in PEM that are trusted as roots instead of the usual ones. */
  ca?: string | undefined
  /** For a proxy that asks who is there, as `Basic <base64>`. */
  proxyAuthorization?: string | undefined
}

/** Where a connection leads. */
export type ConnectTo = {
  /** A name, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
}

/**
 * Opens a connection and settles once, with its stream or with why there is none; the function that
 * it returns gives up. Nothing is settled before it has returned.
 */
export type Connect = (to: ConnectTo, settle: (result: Duplex | Error) => void) => () => void

/** Makes vetted connections, through the policy's proxy where there is one. */
export function createConnector(
  { policy, timeoutMs, proxyAuthorization, ...more }: ConnectorOptions,
): Connect {
  const { proxyUrl = '' } = policy.rules

  return function connect(to, settle): () => void {
    const limit = new AbortController()
    const timer = setTimeout(() => end(timeoutError()), timeoutMs)
    let isSettled = false
    if (!isAllowedHost(to.hostname, policy)) queueMicrotask(() => end(new BlockedAddressError()))
    else if (proxyUrl === '') connectDirectly()
    else connectThroughProxy()
    return () => end(closedError())

    function connectDirectly(): void {
      const socket = openSocket({ ...to, policy, alpn: ['http/1.1'], ...more })
      socket.on('error', end)
      // A peer that closes in the TLS handshake is not always an error to Deno.
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
  return Object.assign(new Error('The connection was not made in time'), { code: 'ETIMEDOUT' })
}

function closedError(): Error {
  return Object.assign(new Error('The connection was closed before it was made'), {
    code: 'ECONNRESET',
  })
}
