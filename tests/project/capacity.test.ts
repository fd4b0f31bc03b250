/** The model of `task capacity` against the loads that were measured, and its page. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import {
  type Cost,
  costOfEvent,
  type Costs,
  fitCosts,
} from '../../supabase/local/capacity/model.ts'
import { firstLimit, needOf, sizeFor, useOf } from '../../supabase/local/capacity/need.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docs, docsBlock } from './_docs.ts'
import { capacityTables } from './_capacity.ts'

interface Measured {
  at: string
  machine: { cpu: string; cores: number }
  costs: Costs
  points: { fanOut: number; payloadKib: number; failRate: number; measured: Cost; told: Cost }[]
}

const path = join(projectRoot, 'tests/bench/results/capacity/measured.json')
const { at, machine, costs, points }: Measured = JSON.parse(await Deno.readTextFile(path))

Deno.test('the sums are near five measured loads', () => {
  expect(points).toHaveLength(5)
  for (const { measured, told, ...point } of points) {
    expect(costOfEvent(costs, point)).toEqual(told)
    for (const name of ['postgresUs', 'workerUs', 'walBytes', 'storedBytes'] as const) {
      const share = told[name] / measured[name]
      expect([point, name, share > 0.75 && share < 1.3]).toEqual([point, name, true])
    }
  }
})

Deno.test('fitCosts() finds the costs of which the measured ones are sums', () => {
  const cost = (n: number): Cost => ({
    ...{ postgresUs: n, workerUs: 2 * n, walBytes: 10 * n, storedBytes: 5 * n },
  })
  const known: Costs = {
    ...{ event: cost(3), eventKib: cost(2), delivery: cost(7), deliveryKib: cost(1) },
    failure: cost(9),
  }
  const measure = (fanOut: number, payloadKib: number, failRate = 0): Cost =>
    costOfEvent(known, { fanOut, payloadKib, failRate })
  const found = fitCosts({
    ...{ small: measure(1, 1), smallToTen: measure(10, 1) },
    ...{ large: measure(1, 9), largeToTen: measure(10, 9), failing: measure(1, 1, 0.5) },
    ...{ smallKib: 1, largeKib: 9, failRate: 0.5 },
  })
  for (const [name, own] of Object.entries(found)) {
    for (const [what, value] of Object.entries(own as Cost)) {
      // SAFETY: both have the same members.
      expect(value).toBeCloseTo(known[name as keyof Costs][what as keyof Cost], 6)
    }
  }
})

Deno.test('a larger load needs more, and a size that is enough', () => {
  const load = (eventsPerDay: number) => ({
    ...{ eventsPerDay, fanOut: 1, payloadKib: 1, failRate: 0.01 },
  })
  const [few, many] = [needOf(costs, load(1e5)), needOf(costs, load(1e7))]
  expect(many.storedBytes / few.storedBytes).toBeCloseTo(100, 3)
  expect(sizeFor(few)?.name).toBe('Micro')
  const size = sizeFor(many)
  expect(size === null ? 0 : firstLimit(useOf(many, size))[1]).toBeLessThanOrEqual(1)
  expect(sizeFor(needOf(costs, load(1e11)))).toBeNull()
})

Deno.test('a small load needs what an idle database needs', () => {
  const need = (eventsPerDay: number) =>
    needOf(costs, { eventsPerDay, fanOut: 1, payloadKib: 1, failRate: 0.01 })
  const [few, fewer] = [need(100), need(1)]
  expect([few.walBytesPerDay, few.postgresCores]).toEqual([
    fewer.walBytesPerDay,
    fewer.postgresCores,
  ])
  expect(fewer.walBytesPerDay).toBeGreaterThan(0.8e9)
})

Deno.test('four edge runs at a time are enough for the rate that they were measured at', () => {
  const load = { fanOut: 1, payloadKib: 1, failRate: 0 }
  // A peak has four times the mean, and a run is to be busy for 70 % of the time.
  const eventsPerDay = 7_800 * 0.7 / 4 * 86_400
  expect(needOf(costs, { ...load, eventsPerDay }).runs).toBe(4)
  expect(needOf(costs, { ...load, eventsPerDay: eventsPerDay * 1.01 }).runs).toBe(5)
})

Deno.test('the page has the tables of today', () => {
  expect(docsBlock('capacity')).toContain('task capacity --events-per-day')
  const page = docs.get('docs/capacity.md')?.replaceAll(/ +/g, ' ').replaceAll(/-{2,}/g, '---')
  for (const table of capacityTables({ at, machine, costs, points })) {
    for (const line of table.split('\n')) {
      expect(page).toContain(line.replaceAll(/ +/g, ' ').replaceAll(/-{2,}/g, '---'))
    }
  }
})
