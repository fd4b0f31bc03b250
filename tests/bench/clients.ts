/**
 * The HTTP/1.1 client of this project beside undici, fetch, node:http and node:http2: CPU for a POST to the same nginx, and
 * how many POSTs are lost by a receiver whose workers recycle. Each client is a process of its own; the
 * rounds alternate.
 *
 *   deno run -A tests/bench/clients.ts [--posts 20000] [--rounds 5] [--only <words of a scenario>]
 */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { print } from '../../supabase/local/print.ts'
import { gunicorn } from '../soak/servers/gunicorn.ts'
import { type RunningServer, startServer } from '../soak/servers/running.ts'
import type { ClientConfig } from './clients/client.ts'
import { type EchoServer, startEchoServer } from './clients/receiver.ts'
import type { RoundResult } from './clients/run.ts'
import { type Scenario, scenarios } from './clients/scenarios.ts'
import { type Child, startChild } from './run/child.ts'
import { median } from './run/stats.ts'

const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
})
const posts = Number(values.posts)
const rounds = Number(values.rounds)

function originsOf({ origins }: Scenario, nginx: EchoServer, recycling: RunningServer): string[] {
  switch (origins) {
    case 'plain':
      return nginx.plain
    case 'plain, one':
      return nginx.plain.slice(0, 1)
    case 'tls':
      return nginx.tls
    case 'tls, one':
      return nginx.tls.slice(0, 1)
    case 'http2':
      return [nginx.http2]
    case 'gunicorn':
      return [new URL(recycling.url).origin]
  }
}

function startClient(name: string, config: ClientConfig): Promise<Child> {
  const program = fileURLToPath(import.meta.resolve('./clients/run.ts'))
  return startChild(name, [
    Deno.execPath(),
    ...['run', '-A', '--cached-only', program, name, JSON.stringify(config)],
  ])
}

/** Prints a line for each client: the median of its rounds, and the sum of what it lost. */
async function measure(scenario: Scenario, config: ClientConfig): Promise<void> {
  const { name, clients, round } = scenario
  const count = Math.round(scenario.count(posts))
  const children = await Promise.all(clients.map((client) => startClient(client, config)))
  const results = clients.map((): RoundResult[] => [])
  try {
    for (let n = 0; n < rounds; n++) {
      for (const [index, child] of children.entries()) {
        // Opens the connections to all targets; they may have been closed since the last round.
        const warm = Math.max(n === 0 ? count / 2 : 0, 2 * round.targets)
        if (isSteady(scenario)) await child.ask({ ...round, posts: warm })
        results[index]?.push(await child.ask<RoundResult>({ ...round, posts: count }))
      }
    }
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
  print(
    `\n${name}: ${rounds} rounds of ${count} POSTs, load average ${Deno.loadavg()[0]?.toFixed(1)}`,
  )
  const costs = results.map((all) => median(all.map(({ cpuUs }) => cpuUs / count)))
  for (const [index, all] of results.entries()) {
    const cost = costs[index] ?? NaN
    const rate = median(all.map(({ ms }) => count / ms * 1000))
    const lost = sum(all.flatMap((result) => Object.values(result.lost)))
    const perTenThousand = lost / (count * rounds) * 10_000
    const kinds = [...new Set(all.flatMap((result) => Object.keys(result.lost)))].join(', ')
    print([
      (clients[index] ?? '').padEnd(12),
      `${cost.toFixed(1).padStart(7)} µs`,
      `${(cost / (costs[0] ?? NaN)).toFixed(2)} ×`.padStart(8),
      `${rate.toFixed(0).padStart(7)}/s`,
      `${median(all.map(({ mb }) => mb)).toFixed(0).padStart(4)} MB`,
      `${perTenThousand.toFixed(0).padStart(5)} lost in 10,000 ${kinds}`,
      `${sum(all.map(({ foreign }) => foreign))} foreign`,
    ].join('  '))
  }
}

/** Whether a round begins with open connections. */
function isSteady({ round }: Scenario): boolean {
  return round.pauses === undefined && round.isCold !== true
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

await using nginx = await startEchoServer()
await using recycling = await startServer(gunicorn, nginx)
for (const scenario of scenarios) {
  if (!scenario.name.includes(values.only)) continue
  await measure(scenario, {
    origins: originsOf(scenario, nginx, recycling),
    path: scenario.path,
    ca: nginx.ca,
    slots: scenario.round.slots,
  })
}
