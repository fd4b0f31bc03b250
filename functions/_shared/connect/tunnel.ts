import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client } from 'undici'
import { BlockedAddressError } from './lookup.ts'

/** A connection that is being made through a proxy. */
export type Tunnel = {
  /** Resolves with the socket once the proxy has connected it; rejects with what a sender's faults are sorted by. */
  opened: Promise<Socket>
  /** Gives it up. */
  abandon(): void
}

/**
 * Asks a proxy for a connection to `host:port` (CONNECT, RFC 9110 section 9.3.6). The proxy looks the name up and vets
 * it; its own address is the operator's and is not vetted. `authorization` goes into proxy-authorization.
 */
export function openTunnel(proxyUrl: string, target: string, authorization?: string): Tunnel {
  const client = new Client(new URL(proxyUrl).origin, {
    connect: ({ hostname, port, protocol }, callback) => {
      const isTls = protocol === 'https:'
      const options = { host: hostname, port: Number(port) || (isTls ? 443 : 80) }
      const socket = isTls ? connectTls({ ...options, servername: hostname }) : connectTcp(options)
      socket.once(isTls ? 'secureConnect' : 'connect', () => callback(null, socket))
      socket.once('error', () => callback(unreachable(), null))
    },
  })

  async function open(): Promise<Socket> {
    try {
      const { statusCode, socket } = await client.connect({
        path: target,
        headers: authorization === undefined ? {} : { 'proxy-authorization': authorization },
      })
      if (statusCode === 200) {
        // SAFETY: undici hands over the very socket that the connector above made.
        return socket as Socket
      }
      socket.on('error', () => {}).destroy()
      throw statusCode === 403 ? new BlockedAddressError() : unreachable()
    } finally {
      client.destroy().catch(() => {})
    }
  }

  return { opened: open(), abandon: () => void client.destroy().catch(() => {}) }
}

/** What the proxy says of it may tell of the inside. */
function unreachable(): Error {
  return Object.assign(new Error('The proxy did not connect'), { code: 'EHOSTUNREACH' })
}
