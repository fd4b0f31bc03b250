import { Pool } from 'undici'
import { z } from 'zod'
import { createAddressPolicy } from '../../functions/_shared/connect/address.ts'
import { bodyOf } from '../../functions/_shared/senders/body.ts'
import { webhookSender } from '../../functions/_shared/senders/webhook.ts'
import { createKeyCache, parseSecret, sign } from '../../functions/_shared/signing/sign.ts'
import { createFetchTransport } from '../../functions/_shared/transport/fetch.ts'
import type { Transport } from '../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../functions/_shared/transport/http1.ts'
import {
  sampleDelivery,
  sampleEndpoint,
  sampleEvent,
  sampleSecret,
  sampleSettings,
} from '../functions/samples.ts'

// What a delivery costs on top of its POST: undici alone, undici with the body signed, and the webhook sender over each
// transport, against one receiver process, in alternating rounds.
// deno run -A tests/bench/sender.ts [posts a round] [rounds] [slots]

type Way = { name: string; send(): Promise<unknown>; close(): Promise<void> }

const [posts = 10_000, rounds = 5, slots = 256] = Deno.args.map(Number)
const event = sampleEvent()
const body = bodyOf(sampleEndpoint(), sampleDelivery().event, event)

function undiciAlone(url: string): Way {
  const pool = new Pool(url, { connections: slots })
  const headers = { 'content-type': 'application/json' }
  return {
    name: 'undici alone',
    send: async () => {
      const response = await pool.request({ path: '/', method: 'POST', headers, body })
      await response.body.dump()
    },
    close: () => pool.close(),
  }
}

function undiciSigned(url: string): Way {
  const pool = new Pool(url, { connections: slots })
  const keys = [parseSecret(sampleSecret)] as const
  return {
    name: 'undici, signed',
    send: async () => {
      const bytes = new TextEncoder().encode(body)
      const { standard, simple } = sign(sampleDelivery().event, 1_767_225_600, bytes, keys)
      const headers = { 'webhook-signature': standard, 'x-signature': simple ?? '' }
      const response = await pool.request({ path: '/', method: 'POST', headers, body: bytes })
      await response.body.dump()
    },
    close: () => pool.close(),
  }
}

function sender(url: string, name: string, transport: Transport): Way {
  const settings = sampleSettings()
  const delivery = sampleDelivery()
  const endpoint = sampleEndpoint({ url })
  const deps = {
    transport,
    keys: createKeyCache(),
    settings,
    policy: createAddressPolicy({ allowHttp: true, allowCidrs: settings.allow_cidrs }),
    wallNow: Date.now,
  }
  return {
    name: `sender over ${name}`,
    send: async () => {
      const result = await webhookSender.send(delivery, endpoint, event, deps)
      if (result.outcome !== 'delivered') throw new Error(`a delivery failed: ${result.error}`)
    },
    close: transport.close,
  }
}

/** POSTs a second, and this process's CPU for one, in µs. */
async function measure({ send }: Way): Promise<[number, number]> {
  let left = posts
  const cpu = cpuMicroseconds()
  const begun = performance.now()
  await Promise.all(Array.from({ length: slots }, async () => {
    while (left-- > 0) await send()
  }))
  const seconds = (performance.now() - begun) / 1000
  return [posts / seconds, (cpuMicroseconds() - cpu) / posts]
}

/** From /proc, since Deno 2.1 has no cpuUsage: user and system time in ticks of 10 ms. */
function cpuMicroseconds(): number {
  const fields = Deno.readTextFileSync('/proc/self/stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

async function startSink(): Promise<{ url: string; stop(): Promise<void> }> {
  const sink = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--cached-only', new URL('sink.ts', import.meta.url).pathname],
    stdout: 'piped',
  }).spawn()
  const reader = sink.stdout.getReader()
  const { value } = await reader.read()
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(new TextDecoder().decode(value)))
  return {
    url,
    stop: async () => {
      sink.kill('SIGTERM')
      await reader.cancel()
      await sink.status
    },
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

const sink = await startSink()
const ways = [
  undiciAlone(sink.url),
  undiciSigned(sink.url),
  sender(sink.url, 'http1', createHttp1Transport()),
  sender(sink.url, 'fetch', createFetchTransport()),
]
const figures = new Map(ways.map(({ name }) => [name, { rates: [0], costs: [0] }]))
for (const way of ways) await measure(way)
for (const { rates, costs } of figures.values()) rates.length = costs.length = 0
for (let round = 0; round < rounds; round++) {
  for (const way of ways) {
    const [rate, cost] = await measure(way)
    figures.get(way.name)?.rates.push(rate)
    figures.get(way.name)?.costs.push(cost)
  }
}
for (const { close } of ways) await close()
await sink.stop()

const lines = [...figures].map(([name, { rates, costs }]) => {
  return `${name.padEnd(20)} ${median(rates).toFixed(0).padStart(7)}/s ${
    median(costs).toFixed(0)
  } µs`
})
const title =
  `Deno ${Deno.version.deno}, ${posts} POSTs a round, median of ${rounds}, ${slots} slots`
await Deno.stdout.write(new TextEncoder().encode(`${[title, ...lines].join('\n')}\n`))
