/** One side of the delivery benchmark as a process: `direct`, `rpc` or `undici`. Ends when it has sent `count`. */

import { cpuUsage } from 'node:process'
import { createHmac } from 'node:crypto'
import { Agent } from 'undici'
import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import { connectRpc } from '../../../functions/_shared/database/rpc.ts'
import type { Database } from '../../../functions/_shared/database.ts'
import { workerOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'
import { createLog } from '../../../functions/_shared/log.ts'

const [side = '', count = '0', ...rest] = Deno.args

/** Runs Outhook's own loop until `count` results are in. */
async function outhook(database: Database): Promise<void> {
  const stop = new AbortController()
  const log = createLog({ debug: false })
  const deps = wireRun({
    database,
    transport: 'undici',
    log,
    routineLevel: 'debug',
    stop: stop.signal,
  })
  let left = Number(count)
  const summary = await run({ ...deps, observe: () => --left === 0 && stop.abort() }, workerOptions)
  await deps.transport.close()
  await database.close()
  report({ ...summary, perDispatch: summary.delivered / summary.dispatches })
}

/** POSTs signed bodies as fast as undici does, with nothing behind it: the ceiling. */
async function undiciAlone(urls: string[]): Promise<void> {
  const agent = new Agent({ connections: 64 })
  const body = JSON.stringify({ data: 'x'.repeat(400) })
  const key = crypto.getRandomValues(new Uint8Array(32))
  let left = Number(count)
  async function one(): Promise<void> {
    while (left-- > 0) {
      const url = new URL(urls[left % urls.length] ?? '')
      const signature = createHmac('sha256', key).update(`${left}.${body}`).digest('base64')
      const { body: answer } = await agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': String(left),
          'webhook-signature': `v1,${signature}`,
        },
        body,
      })
      await answer.dump()
    }
  }
  await Promise.all(Array.from({ length: 256 }, one))
  await agent.close()
  report({})
}

function report(facts: Record<string, unknown>): void {
  const { user, system } = cpuUsage()
  const rssMb = Math.round(Deno.memoryUsage().rss / 1e6)
  const line = JSON.stringify({ ...facts, cpuMs: (user + system) / 1000, rssMb })
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`))
}

if (side === 'direct') await outhook(connectDirect({ url: rest[0] ?? '' }))
if (side === 'rpc') await outhook(connectRpc({ url: rest[0] ?? '', key: rest[1] ?? '' }))
if (side === 'undici') await undiciAlone(rest)
Deno.exit(0)
