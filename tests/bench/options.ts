/** What the command takes. */

import type { Plan, Question } from './questions/_question.ts'
import { defaultLoad, loadOf } from './report/machine.ts'
import { fairness } from './questions/fairness.ts'
import { fanOut } from './questions/fan_out.ts'
import { finished, waiting } from './questions/growth.ts'
import { latency } from './questions/latency.ts'
import { publish } from './questions/publish.ts'
import { endpoints, workers } from './questions/scale.ts'
import { sustained } from './questions/sustained.ts'
import { throughput } from './questions/throughput.ts'
import { chooseSides, pickSides, quickSides, sides } from './sides/catalog.ts'

/** In the order in which they are asked. */
export const questions: readonly Question[] = [
  throughput,
  sustained,
  latency,
  fairness,
  publish,
  fanOut,
  endpoints,
  workers,
  waiting,
  finished,
]

export const flags = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true, default: [] as string[] },
  side: { type: 'string', multiple: true, default: [] as string[] },
  rounds: { type: 'string' },
  events: { type: 'string' },
  seconds: { type: 'string' },
  keep: { type: 'boolean' },
  load: { type: 'string', default: String(defaultLoad) },
} as const

export const help =
  `deno task bench [--quick] [--only <question>] [--side <name>] [--rounds <n>] [--events <n>]
                [--seconds <n>] [--load <n>]

Measures Outhook against graphile-worker, pg-boss, BullMQ, a plain table, and the sender alone, which
are installed under .outhook/bench. A full run takes an hour and writes tests/bench/results/,
docs/performance.md and the README's figures. With --quick it takes about 3 minutes, and with --quick,
--only or --side it writes nothing. Each run ends with the ratios that matter most and the winner of each.

  --only    ${questions.map(({ name }) => name).join(', ')} (may be repeated, or words with commas)
  --side    a word of the name: ${sides.map(({ name }) => name).join(', ')}
  --rounds  alternating rounds, instead of each question's own number
  --events  deliveries a round, likewise
  --seconds how long a round of sustained lasts
  --keep    write the results of a run that is not a full one
  --load    the highest load average of the machine at the start, by default ${defaultLoad}`

/** What was asked for; throws a message for the person who typed it. */
export function readPlan(
  values: {
    quick: boolean
    only: string[]
    side: string[]
    rounds?: string
    events?: string
    seconds?: string
    keep?: boolean
    load: string
  },
): { plan: Plan; asked: Question[]; isKept: boolean; mostLoad: number } {
  const only = values.only.flatMap((words) => words.split(','))
  const side = values.side.flatMap((words) => words.split(','))
  const known = questions.map(({ name }) => name)
  const unknown = only.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`--only ${unknown} is none of ${known.join(', ')}`)
  const chosen = chooseSides(side)
  if (chosen.length === 0) throw new Error(`--side ${side} is in no name; see --help`)
  const { rounds, events, seconds } = values
  return {
    plan: {
      quick: values.quick,
      sides: values.quick && side.length === 0 ? pickSides(chosen, quickSides) : chosen,
      ...(rounds === undefined ? {} : { rounds: whole('rounds', rounds) }),
      ...(events === undefined ? {} : { events: whole('events', events) }),
      ...(seconds === undefined ? {} : { seconds: whole('seconds', seconds) }),
    },
    asked: questions.filter(({ name, isLong }) =>
      only.length === 0 ? !(values.quick && isLong) : only.includes(name)
    ),
    mostLoad: loadOf(values.load),
    isKept: values.keep ?? (!values.quick && only.length === 0 && side.length === 0),
  }
}

function whole(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} takes a whole number above 0, not ${text}`)
}
