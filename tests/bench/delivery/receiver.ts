/** The receiver of the delivery benchmark, a process of its own: answers 200, counts on GET. */

import { cpuUsage } from 'node:process'

let received = 0
let firstAt = 0
let lastAt = 0
const ids = new Set<string>()
const OK = new Uint8Array([111, 107])

async function receive(request: Request): Promise<Response> {
  if (request.method === 'GET') {
    return Response.json({
      received,
      distinct: ids.size,
      ms: lastAt - firstAt,
      cpuMs: cpuMs(),
    })
  }
  if (request.method === 'DELETE') {
    received = 0
    ids.clear()
    return new Response()
  }
  await request.arrayBuffer()
  lastAt = performance.now()
  if (received === 0) firstAt = lastAt
  received++
  ids.add(request.headers.get('webhook-id') + request.url)
  return new Response(OK)
}

function cpuMs(): number {
  const { user, system } = cpuUsage()
  return (user + system) / 1000
}

const { port } = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, receive).addr
await Deno.stdout.write(new TextEncoder().encode(`${port}\n`))
