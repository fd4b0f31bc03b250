/**
 * The noisy organisation: a process that calls the API as fast as the organisation's limits allow, in
 * several loops, and receives its own deliveries badly. One argument: NoiseOptions as JSON. It prints its
 * port, starts when its standard input has a line, and prints its counts when the input ends.
 */

import type { LoopName, NoiseOptions } from './options.ts'

// SAFETY: tests/bench/noisy.ts starts this process and writes the argument.
const { api, headers, filters, loops } = JSON.parse(Deno.args[0] ?? '') as NoiseOptions

/** How often each route returned which status, such as `POST /events 202`; status 0: no response. */
const answers: Record<string, number> = {}
let isDone = false
let batches = 0

/** The response with its JSON; null for the body of a failure. */
type Answer = { isDone: boolean; body: unknown }

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  try {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    })
    const text = await response.text()
    count(method, path, response.status)
    // Its rate allows no more for now.
    if (response.status === 429) await new Promise((resolve) => setTimeout(resolve, 100))
    return { isDone: response.ok, body: response.ok && text !== '' ? JSON.parse(text) : null }
  } catch {
    count(method, path, 0)
    return { isDone: false, body: null }
  }
}

function count(method: string, path: string, status: number): void {
  const [route] = path.replace(/[0-9a-f-]{36}/, '{id}').split('?')
  const answer = `${method} ${route} ${status}`
  answers[answer] = (answers[answer] ?? 0) + 1
}

/** About 220 KB whose every element each filter looks at. */
const items = Array.from({ length: 4_000 }, (_, n) => ({ a: n, b: n, c: n, d: `${n}`.repeat(4) }))
/** Each has a key of its own, and so a lane of its own at each ordered endpoint. */
const small = Array.from({ length: 1_000 }, (_, n) => ({ type: 'noise.small', payload: { n } }))
const keyed = (n: number): unknown[] =>
  small.map((one, at) => ({ ...one, correlationId: 'noise', partitionKey: `${n}-${at}` }))
const schema = { properties: { items: { items: { anyOf: [...Array(100).keys()].map(isA) } } } }

function isA(a: number): unknown {
  return { properties: { a: { const: a } }, required: ['a'] }
}

async function endpointIds(): Promise<string[]> {
  const { body } = await call('GET', '/endpoints?limit=50')
  // SAFETY: the schema of the route.
  const page = body as { data: { id: string }[] } | null
  return page?.data.map(({ id }) => id) ?? []
}

/** The one endpoint that the limit leaves, while it exists. */
let extra: string | null = null

/** Creates this endpoint, and deletes it the next time. */
async function createEndpoint(): Promise<void> {
  if (extra !== null) {
    const { isDone } = await call('DELETE', `/endpoints/${extra}`)
    if (isDone) extra = null
    return
  }
  const { body } = await call('POST', '/endpoints', { url: 'https://example.com' })
  // SAFETY: the schema of the route.
  extra = (body as { id: string } | null)?.id ?? null
}

async function rotateSecrets(): Promise<void> {
  for (const id of await endpointIds()) {
    await call('POST', `/endpoints/${id}/secret/rotate`, { overlapSeconds: 0 })
  }
}

async function changeEndpoints(): Promise<void> {
  for (const [n, id] of (await endpointIds()).entries()) {
    const filter = filters[n % filters.length]
    await call('PATCH', `/endpoints/${id}`, { eventTypes: ['noise.*', `noise.n${n}`], filter })
  }
}

const steps: Record<LoopName, () => Promise<unknown>> = {
  big: () => call('POST', '/events', { type: 'noise.big', payload: { items } }),
  batch: () => call('POST', '/events/batch', { events: keyed(batches++) }),
  small: () => call('POST', '/events', { type: 'noise.small', payload: {} }),
  schema: () => call('PUT', '/event-types/noise.big', { schema }),
  change: changeEndpoints,
  rotate: rotateSecrets,
  create: createEndpoint,
  replay: () => call('POST', '/replay-jobs', { ratePerSecond: 1000 }),
  token: () => call('POST', '/portal-tokens', {}),
  deliveries: () => call('GET', '/deliveries?status=pending&limit=100'),
  events: () => call('GET', '/events?type=noise.none&limit=100'),
  search: () => call('GET', '/search?correlationId=noise'),
  spin,
}

/** Takes each processor until this process ends. */
async function spin(): Promise<void> {
  const url = new URL('./spin.ts', import.meta.url)
  for (let n = 0; n < navigator.hardwareConcurrency; n++) new Worker(url, { type: 'module' })
  while (!isDone) await new Promise((resolve) => setTimeout(resolve, 100))
}

async function repeat(step: () => Promise<unknown>): Promise<void> {
  while (!isDone) await step()
}

/** `/ok` responds at once, `/fail` with 500, `/hang` after 20 s. */
async function receive(request: Request): Promise<Response> {
  await request.arrayBuffer()
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/hang')) await new Promise((resolve) => setTimeout(resolve, 20_000))
  return new Response('', { status: pathname.startsWith('/fail') ? 500 : 200 })
}

async function write(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`))
}

const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, receive)
await write(String(server.addr.port))
const input = Deno.stdin.readable.getReader()
await input.read()
const running = loops.map((name) => repeat(steps[name]))
while (!(await input.read()).done);
isDone = true
await Promise.race([Promise.all(running), new Promise((resolve) => setTimeout(resolve, 5_000))])
await write(JSON.stringify(answers))
Deno.exit(0)
