/** The receiver of the mixed bench: `/fast/<n>` answers at once, `/fail/<n>` with 500, `/hang/<n>` never. */

interface Arrival {
  /** When the event was published, by the publisher's clock, and when it came, in ms since 1970. */
  published: number
  received: number
}

let arrivals: Arrival[] = []

async function receive(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET') {
    const delays = arrivals.map(({ published, received }) => received - published)
    return Response.json(delays)
  }
  if (request.method === 'DELETE') {
    arrivals = []
    return new Response()
  }
  const received = Date.now()
  const { data } = await request.json()
  if (pathname.startsWith('/hang')) return await new Promise(() => {})
  if (pathname.startsWith('/fail')) return new Response('no', { status: 500 })
  arrivals.push({ published: data.at, received })
  return new Response('ok')
}

const { port } = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, receive).addr
await Deno.stdout.write(new TextEncoder().encode(`${port}\n`))
