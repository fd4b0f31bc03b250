/** The tables of docs/capacity.md. `deno run -A tests/project/_capacity.ts` writes them into the page. */

import { join } from 'node:path'
import { type Cost, type Costs } from '../../supabase/local/capacity/model.ts'
import { tellNeed } from '../../supabase/local/capacity/tell.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

interface Measured {
  at: string
  machine: { cpu: string; cores: number }
  costs: Costs
  points: { fanOut: number; payloadKib: number; failRate: number; measured: Cost; told: Cost }[]
}

const users: [name: string, eventsPerDay: number][] = [
  ['100 events a day', 100],
  ['1 million', 1e6],
  ['100 million', 1e8],
]

const titles: Record<keyof Costs, string> = {
  event: 'an event',
  eventKib: 'a KiB of its payload',
  delivery: 'a delivery',
  deliveryKib: 'a KiB of its payload, for each delivery',
  failure: 'a failed attempt and its retry',
}

/** In the order of the page: three users, the costs, the checked loads, and the sentence about the machine. */
export function capacityTables({ at, machine, costs, points }: Measured): string[] {
  const needs = users.map(([, eventsPerDay]) =>
    tellNeed(costs, {
      ...{ eventsPerDay, fanOut: 1, payloadKib: 1_000 / 1_024, failRate: 0.01 },
    })
  )
  const names = needs[0]?.map(([name]) => name) ?? []
  const share = (told: number, measured: number): string => (told / measured).toFixed(2)
  return [
    [
      `| | ${users.map(([name]) => name).join(' | ')} |`,
      '| --- | --- | --- | --- |',
      ...names.map((name, row) => `| ${name} | ${needs.map((n) => n[row]?.[1]).join(' | ')} |`),
    ].join('\n'),
    [
      '| | Postgres µs | worker µs | WAL bytes | stored bytes |',
      '| --- | ---: | ---: | ---: | ---: |',
      ...Object.entries(costs).map(([name, own]: [string, Cost]) =>
        // SAFETY: these are its members.
        `| ${titles[name as keyof Costs]} | ${own.postgresUs.toFixed(0)} | ` +
        `${own.workerUs.toFixed(0)} | ${own.walBytes.toFixed(0)} | ${own.storedBytes.toFixed(0)} |`
      ),
    ].join('\n'),
    [
      '| deliveries of an event | KiB | first attempts that fail | Postgres | worker | WAL | stored |',
      '| ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
      ...points.map(({ fanOut, payloadKib, failRate, measured, told }) =>
        `| ${fanOut} | ${payloadKib} | ${failRate * 100} % | ` +
        `${share(told.postgresUs, measured.postgresUs)} | ` +
        `${share(told.workerUs, measured.workerUs)} | ${
          share(told.walBytes, measured.walBytes)
        } | ` +
        `${share(told.storedBytes, measured.storedBytes)} |`
      ),
    ].join('\n'),
    `Measured on ${at.slice(0, 10)} on ${machine.cores} cores of ${machine.cpu}.`,
  ]
}

if (import.meta.main) {
  const measured: Measured = JSON.parse(
    await Deno.readTextFile(join(projectRoot, 'tests/bench/results/capacity/measured.json')),
  )
  const page = join(projectRoot, 'docs/capacity.md')
  let text = await Deno.readTextFile(page)
  const tables = capacityTables(measured)
  for (const [at, mark] of ['@@three@@', '@@costs@@', '@@points@@'].entries()) {
    const old = text.includes(mark) ? mark : [...text.matchAll(/^(?:\|.*\n)*\|.*$/gm)][at]?.[0]
    text = text.replace(old ?? '', tables[at] ?? '')
  }
  text = text.replace(/@@measured@@|Measured on .*? cores of [^.]*\./, tables[3] ?? '')
  await Deno.writeTextFile(page, text)
}
