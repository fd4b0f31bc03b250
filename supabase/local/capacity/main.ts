/** What a load needs, from measured costs. */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { print, printError } from '../print.ts'
import { projectRoot } from '../schema/project.ts'
import type { Costs } from './model.ts'
import { tellNeed } from './tell.ts'

const help = `Tell what a load needs: processors, log, storage, workers, and what it costs.

  npx -y deno@2.9.6 task capacity --events-per-day 1000000 --fan-out 3

  --events-per-day <n>  events of a day
  --fan-out <n>         deliveries of an event (default 1)
  --payload <n>         bytes of a payload (default 1000)
  --fail-rate <n>       the share of deliveries whose first attempt fails (default 0.01)
  --help                show this

The costs are those of tests/bench/results/capacity/measured.json: docs/capacity.md says how they are measured.`

export async function main(args: string[] = Deno.args): Promise<void> {
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args,
      options: {
        'events-per-day': { type: 'string' },
        'fan-out': { type: 'string', default: '1' },
        payload: { type: 'string', default: '1000' },
        'fail-rate': { type: 'string', default: '0.01' },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    printError(`${error instanceof Error ? error.message : error}\n\n${help}`)
    Deno.exit(2)
  }
  if (values.help === true) return print(help)
  const read = (name: string, least: number, most = 1e12): number => {
    const text = String(values[name] ?? '').trim()
    const value = Number(text)
    if (text !== '' && value >= least && value <= most) return value
    printError(`--${name} is missing or invalid\n\n${help}`)
    Deno.exit(2)
  }
  const load = {
    eventsPerDay: read('events-per-day', 1),
    fanOut: read('fan-out', 1),
    payloadKib: read('payload', 0, 1_048_576) / 1_024,
    failRate: read('fail-rate', 0, 1),
  }
  // SAFETY: tests/project/capacity.test.ts reads the same file.
  const { costs } = JSON.parse(
    await Deno.readTextFile(join(projectRoot, 'tests/bench/results/capacity/measured.json')),
  ) as { costs: Costs }
  for (const [name, value] of tellNeed(costs, load)) print(`${name.padEnd(18)}${value}`)
}

if (import.meta.main) await main()
