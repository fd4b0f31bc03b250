import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { PoolOptions } from '../../functions/_shared/http1/pools.ts'
import { createFetchTransport } from '../../functions/_shared/transport/fetch.ts'
import { createHttp1Transport } from '../../functions/_shared/transport/http1.ts'
import type {
  Exchange,
  PostRequest,
  Transport,
} from '../../functions/_shared/transport/transport.ts'
import { builtForNode, nodeCommand } from '../_support/node.ts'
import type { FromNode, NodeTransportOptions, ToNode } from '../_support/node_post.ts'

/** Makes transports of one runtime. */
export type MakeTransport = {
  http1(options?: PoolOptions): Promise<Transport>
  fetch(): Promise<Transport>
}

/**
 * The runtimes that a test of connections runs under. Node is left out under the Deno of the edge runtime, whose
 * tests would only repeat those of the newer one.
 */
export const transports: ReadonlyMap<string, MakeTransport> = new Map<string, MakeTransport>([
  ['Deno', {
    http1: (options) => Promise.resolve(createHttp1Transport(options)),
    fetch: () => Promise.resolve(createFetchTransport()),
  }],
  ...Deno.version.deno.startsWith('2.1.') ? [] : [
    ['Node', {
      http1: ({ resolve, ca, proxyAuthorization, keepAliveMs } = {}) =>
        startNodeTransport({
          kind: 'http1',
          asks: resolve !== undefined,
          ...(ca === undefined ? {} : { ca }),
          ...(proxyAuthorization === undefined ? {} : { proxyAuthorization }),
          ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
        }, resolve),
      fetch: () => startNodeTransport({ kind: 'fetch', asks: false }),
    }] satisfies [string, MakeTransport],
  ],
])

/** The transport in a process of Node, which asks this one for the addresses of names. */
async function startNodeTransport(
  options: NodeTransportOptions,
  resolve: PoolOptions['resolve'] = () => Promise.reject(new Error('asked for a name')),
): Promise<Transport> {
  const program = await builtForNode('tests/_support/node_post.ts')
  const child = new Deno.Command(await nodeCommand(), {
    args: [program],
    // What the process is told must not weaken its checks.
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' },
    stdin: 'piped',
    stdout: 'piped',
  }).spawn()
  const writer = child.stdin.getWriter()
  const waiting = new Map<number, (exchange: Exchange) => void>()
  let posts = 0

  async function write(message: ToNode): Promise<void> {
    await writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`))
  }

  async function answer(id: number, hostname: string): Promise<void> {
    try {
      await write({ kind: 'resolved', id, addresses: await resolve(hostname) })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
      const text = error instanceof Error ? error.message : String(error)
      await write({ kind: 'resolved', id, error: text, ...(code === undefined ? {} : { code }) })
    }
  }

  async function read(): Promise<void> {
    for await (const line of createInterface({ input: Readable.from(child.stdout) })) {
      // SAFETY: node_post.ts writes nothing else.
      const message = JSON.parse(line) as FromNode
      if (message.kind === 'resolve') void answer(message.id, message.hostname)
      else {
        const { id, exchange, body } = message
        const bytes = body === null ? {} : { body: bytesOf(body) }
        const { body: _, ...rest } = exchange
        // SAFETY: node_post.ts takes it apart so.
        waiting.get(id)?.({ ...rest, ...bytes } as Exchange)
        waiting.delete(id)
      }
    }
  }

  const reading = read()
  await write({ kind: 'open', options })
  return {
    post({ url, body, policy, ...request }: PostRequest): Promise<Exchange> {
      const id = posts++
      return new Promise((done) => {
        waiting.set(id, done)
        void write({
          kind: 'post',
          id,
          request,
          url: url.href,
          body: body.toString('base64'),
          rules: policy.rules,
        })
      })
    },
    async close(): Promise<void> {
      await writer.close()
      await Promise.all([child.status, reading])
    },
  }
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
