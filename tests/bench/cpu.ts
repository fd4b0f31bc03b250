/**
 * What a delivery costs of a run's CPU, as the platform counts it, and what a cold start costs: the edge function's own loop
 * by RPC in a process of its own, measured through /proc since the edge runtime's Deno tells nothing itself.
 *
 *   deno run -A tests/bench/cpu.ts [--deno 2.1.4] [--events 5000] [--rounds 3]
 */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { edgeDeno } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { startSink } from '../soak/_support/processes.ts'

const { values } = parseArgs({
  options: {
    deno: { type: 'string', default: edgeDeno },
    events: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
  },
})
const events = Number(values.events)
const denoPath = join(await ensureTool(projectRoot, 'deno', values.deno), 'deno')

interface Facts {
  /** From the start of the process to its first call, and its CPU until then, in ms. */
  coldMs: number
  coldCpuMs: number
  /** CPU of the deliveries alone, in ms. */
  cpuMs: number
  rssMb: number
}

async function measure(stack: { apiUrl: string; keys: { secretKey: string } }): Promise<Facts> {
  const begun = Date.now()
  const child = new Deno.Command(denoPath, {
    args: [
      'run',
      '--cached-only',
      '-A',
      '--no-check',
      '--no-lock',
      '--no-config',
      '--import-map',
      new URL('../../import_map.json', import.meta.url).pathname,
      new URL('./cpu/run.ts', import.meta.url).pathname,
      String(events),
      stack.apiUrl,
      stack.keys.secretKey,
      String(begun),
    ],
    stdout: 'piped',
  }).spawn()
  const { stdout } = await child.output()
  // SAFETY: run.ts ends with one line of exactly these facts.
  return JSON.parse(new TextDecoder().decode(stdout).trim().split('\n').at(-1) ?? '') as Facts
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

const dataDir = testFolder()
const stack = await startStack({ dataDir, ports: 'free', functions: [], fsync: false })
const sink = await startSink()
const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
try {
  for (let n = 0; n < 10; n++) {
    await sql`select outbox.create_endpoint(${`${sink.url}/${n}`}, ${[`cpu.e${n}`]})`
  }
  const rounds: Facts[] = []
  // The first round fills caches and does not count.
  for (let n = 0; n <= Number(values.rounds); n++) {
    await sql`
      select outbox.publish_many(jsonb_agg(jsonb_build_object('type', 'cpu.e' || n % 10,
        'payload', jsonb_build_object('data', repeat('x', 380)))))
      from generate_series(1, ${events}::int) as n group by n / 500`
    const facts = await measure(stack)
    if (n > 0) rounds.push(facts)
  }
  const of = (key: keyof Facts): number => median(rounds.map((facts) => facts[key]))
  print(`Deno ${values.deno}, ${events} deliveries of 500 bytes by RPC, median of ${rounds.length}`)
  print(`CPU per delivery  ${((of('cpuMs') / events) * 1000).toFixed(0)} µs`)
  print(`cold start        ${of('coldMs').toFixed(0)} ms, ${of('coldCpuMs').toFixed(0)} ms of CPU`)
  print(`memory at its end ${of('rssMb').toFixed(0)} MB`)
} finally {
  await sql.end()
  await sink.stop()
  await stack.stop()
  await Deno.remove(dataDir, { recursive: true })
}
