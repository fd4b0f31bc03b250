/**
 * Measures what an event and a delivery cost, from which `task capacity` adds up a load, and five other loads,
 * to see how far the sums are from what is measured. Writes tests/bench/results/capacity/measured.json. Takes two
 * minutes on a quiet machine:
 *
 *   npx -y deno@2.9.6 run -A tests/bench/capacity.ts
 */

import { join } from 'node:path'
import { cpus } from 'node:os'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Cost, costOfEvent, fitCosts } from '../../supabase/local/capacity/model.ts'
import { type Point, startScene } from './capacity/scene.ts'

const file = join(projectRoot, 'tests/bench/results/capacity/measured.json')

const SMALL = 0.4
const LARGE = 16
const FAILING = 0.5

/** Loads between and beyond those that the costs are from. */
const checked: readonly Point[] = [
  { fanOut: 3, payloadKib: 1, failRate: 0 },
  { fanOut: 1, payloadKib: 4, failRate: 0.2 },
  { fanOut: 20, payloadKib: 0.4, failRate: 0 },
  { fanOut: 5, payloadKib: 8, failRate: 0.1 },
  { fanOut: 2, payloadKib: 2, failRate: 0.3 },
]

if (import.meta.main) {
  await using scene = await startScene()
  const measure = async (fanOut: number, payloadKib: number, failRate: number): Promise<Cost> => {
    const cost = await scene.measure({ fanOut, payloadKib, failRate })
    print(`  ${fanOut} × ${payloadKib} KiB, ${failRate}: ${JSON.stringify(cost)}`)
    return cost
  }
  // Warms the caches, plans and the worker's code.
  await measure(2, SMALL, 0)
  const costs = fitCosts({
    small: await measure(1, SMALL, 0),
    smallToTen: await measure(10, SMALL, 0),
    large: await measure(1, LARGE, 0),
    largeToTen: await measure(10, LARGE, 0),
    failing: await measure(1, SMALL, FAILING),
    ...{ smallKib: SMALL, largeKib: LARGE, failRate: FAILING },
  })
  const points = []
  for (const point of checked) {
    const measured = await measure(point.fanOut, point.payloadKib, point.failRate)
    points.push({ ...point, measured, told: costOfEvent(costs, point) })
  }
  const machine = { cpu: cpus()[0]?.model ?? '', cores: cpus().length }
  const at = new Date().toISOString()
  await Deno.writeTextFile(file, JSON.stringify({ at, machine, costs, points }, null, 2) + '\n')
  for (const { measured, told, ...point } of points) {
    const off = Object.entries(told).map(([name, value]) =>
      `${name} ${(value / measured[name as keyof Cost]).toFixed(2)}`
    )
    print(`  ${JSON.stringify(point)}: told / measured: ${off.join(', ')}`)
  }
  Deno.exit(0)
}
