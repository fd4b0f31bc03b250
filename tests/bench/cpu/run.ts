/** A run as the edge function makes it, until `count` results are in; ends with a line of facts. */

import { connectRpc } from '../../../functions/_shared/database/rpc.ts'
import { createLog } from '../../../functions/_shared/base/log.ts'
import { webhookSender } from '../../../functions/_shared/senders/webhook.ts'
import { edgeOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'

const [count = '0', url = '', key = '', begun = '0'] = Deno.args

/** User and system time of this process, in ms; the kernel counts ticks of 10 ms. */
function cpuMs(): number {
  const fields = Deno.readTextFileSync('/proc/self/stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const coldMs = Date.now() - Number(begun)
const coldCpuMs = cpuMs()
const stop = new AbortController()
const log = createLog({ debug: false })
const deps = wireRun({
  database: connectRpc({ url, key }),
  transport: 'http1',
  log,
  routineLevel: 'debug',
  stop: stop.signal,
  senders: new Map([['webhook', webhookSender]]),
})
let left = Number(count)
const budget = { ...edgeOptions, isBounded: false, maxCpuMs: null }
await run({ ...deps, observe: () => --left === 0 && stop.abort() }, budget)
const rssMb = Deno.memoryUsage().rss / 1e6
const facts = { coldMs, coldCpuMs, cpuMs: cpuMs() - coldCpuMs, rssMb }
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(facts)}\n`))
Deno.exit(0)
