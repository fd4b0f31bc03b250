/**
 * The noisy organisation: a process that calls the API as fast as the organisation's limits allow, in
 * several loops, and receives its own deliveries badly. One argument: NoiseOptions as JSON. It prints its
 * port and the URL of the WhatsApp that takes its messages, starts when its standard input has a line, and
 * prints its counts when the input ends.
 */

import { startGraph } from '../../../supabase/local/whatsapp/graph.ts'
import { pause } from '../engine/pause.ts'
import { createCalls, type Steps } from './calls.ts'
import { type LoopName, MOST_MESSAGES, type NoiseOptions, TOKEN } from './options.ts'
import { allSteps } from './steps.ts'

// SAFETY: tests/bench/noisy.ts starts this process and writes the argument.
const options = JSON.parse(Deno.args[0] ?? '') as NoiseOptions
const calls = createCalls(options)
let isDone = false

const steps: Steps<LoopName> = { ...allSteps(calls, options.filters), spin }

/** Takes each processor until this process ends. */
async function spin(): Promise<void> {
  const url = new URL('./spin.ts', import.meta.url)
  for (let n = 0; n < navigator.hardwareConcurrency; n++) new Worker(url, { type: 'module' })
  while (!isDone) await pause(100)
}

async function repeat(step: () => Promise<unknown>): Promise<void> {
  while (!isDone) await step()
}

/** `/ok` responds at once, `/fail` with 500, `/hang` after 20 s. */
async function receive(request: Request): Promise<Response> {
  await request.arrayBuffer()
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/hang')) await pause(20_000)
  return new Response('', { status: pathname.startsWith('/fail') ? 500 : 200 })
}

async function write(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`))
}

const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, receive)
// Its number has the port as id, so that each process has another one.
const graph = startGraph({
  numbers: { [server.addr.port]: { token: TOKEN, perSecond: MOST_MESSAGES } },
})
await write(`${server.addr.port} ${graph.url}`)
const input = Deno.stdin.readable.getReader()
await input.read()
const running = options.loops.map((name) => repeat(steps[name]))
while (!(await input.read()).done);
isDone = true
await Promise.race([Promise.all(running), pause(5_000)])
await write(JSON.stringify(calls.answers))
Deno.exit(0)
