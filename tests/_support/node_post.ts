/**
 * Our HTTP transport in a process of Node: reads a message a line from standard input, and writes one a line to
 * standard output. The names are resolved by the process that started it.
 */

import { Buffer } from 'node:buffer'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { type AddressRules, createPolicySource } from '../../functions/_shared/connect/address.ts'
import type { ResolvedAddress } from '../../functions/_shared/connect/share_lookups.ts'
import { createFetchTransport } from '../../functions/_shared/transport/fetch.ts'
import { createHttp1Transport } from '../../functions/_shared/transport/http1.ts'
import type { PostRequest } from '../../functions/_shared/transport/transport.ts'

/** What the transport is made of; the members are those of `PoolOptions`. */
export type NodeTransportOptions = {
  kind: 'http1' | 'fetch'
  /** Whether names are resolved by the process that started this one. */
  asks: boolean
  ca?: string
  proxyAuthorization?: string
  keepAliveMs?: number
}

/** A request in JSON. */
export type PostMessage = {
  id: number
  request: Omit<PostRequest, 'url' | 'body' | 'policy'>
  url: string
  body: string
  rules: AddressRules
}

export type ToNode =
  | ({ kind: 'open' } & { options: NodeTransportOptions })
  | ({ kind: 'post' } & PostMessage)
  | { kind: 'resolved'; id: number; addresses?: ResolvedAddress[]; error?: string; code?: string }

export type FromNode =
  | { kind: 'answer'; id: number; exchange: Record<string, unknown>; body: string | null }
  | { kind: 'resolve'; id: number; hostname: string }

export async function main(): Promise<void> {
  const policyOf = createPolicySource()
  const asked = new Map<number, (message: ToNode & { kind: 'resolved' }) => void>()
  let questions = 0
  let transport: ReturnType<typeof createHttp1Transport> | null = null

  function write(message: FromNode): void {
    process.stdout.write(`${JSON.stringify(message)}\n`)
  }

  function resolve(hostname: string): Promise<ResolvedAddress[]> {
    const id = questions++
    write({ kind: 'resolve', id, hostname })
    return new Promise((done, fail) => {
      asked.set(id, ({ addresses, error = '', code }) => {
        if (addresses !== undefined) done(addresses)
        else fail(Object.assign(new Error(error), code === undefined ? {} : { code }))
      })
    })
  }

  async function post({ id, request, url, body, rules }: PostMessage): Promise<void> {
    const exchange = await transport?.post({
      ...request,
      url: new URL(url),
      body: Buffer.from(body, 'base64'),
      policy: policyOf(rules),
    })
    const bytes = exchange?.kind === 'response' ? exchange.body : null
    write({
      kind: 'answer',
      id,
      exchange: { ...exchange, body: null },
      body: bytes === null ? null : Buffer.from(bytes).toString('base64'),
    })
  }

  for await (const line of createInterface({ input: process.stdin })) {
    // SAFETY: the process that started this one writes nothing else.
    const message = JSON.parse(line) as ToNode
    if (message.kind === 'open') {
      const { kind, asks, ...options } = message.options
      const more = asks ? { resolve } : {}
      transport = kind === 'fetch'
        ? createFetchTransport(more.resolve)
        : createHttp1Transport({ ...options, ...more })
    } else if (message.kind === 'post') void post(message)
    else asked.get(message.id)?.(message)
  }
  await transport?.close()
}
