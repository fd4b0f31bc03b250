/**
 * The size of the console's page, by file, and of the portal: the limits are 85 kB compressed for the first
 * load, and 60 kB for the module of the portal. Then the time to the first control that can be used, with a
 * cold cache, on a stack of its own: the limit is 1 s. `--size` prints the sizes alone.
 *
 *   deno run -A tests/bench/console.ts
 */

import { buildPage } from '../../console/build/build.ts'
import { buildPortal } from '../../portal/build/build.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { loadTimes } from './console/load.ts'
import { compressedSizes, firstLoad, totalOf } from './console/sizes.ts'

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1).padStart(7)} kB`

const startedAt = performance.now()
const files = await buildPage(projectRoot)
const needed = firstLoad(files)
const sizes = await compressedSizes(files)
for (const { path, bytes, compressed } of sizes) {
  print(`${kilobytes(bytes)} ${kilobytes(compressed)} compressed  ${path}`)
}
const first = sizes.filter(({ path }) => needed.has(path))
print(`${' '.repeat(10)} ${kilobytes(totalOf(first))} compressed  in the first load, of 85 kB`)
print(`${' '.repeat(10)} ${kilobytes(totalOf(sizes))} compressed  in all`)
const bytes = (await buildPortal(projectRoot)).get('outhook-portal.js') ?? new Uint8Array()
const portal = await compressedSizes(new Map([['portal', { bytes, type: 'text/javascript' }]]))
print(`${kilobytes(bytes.length)} ${kilobytes(totalOf(portal))} compressed  the portal, of 60 kB`)
print(`built in ${Math.round(performance.now() - startedAt)} ms`)

if (!Deno.args.includes('--size')) {
  const runs = 9
  for (const [name, times] of Object.entries(await loadTimes(runs))) {
    const [median, worst] = [Math.round(medianOf(times)), Math.round(Math.max(...times))]
    print(`${median} ms, ${worst} ms at worst: the ${name} until its first control, of 1000 ms`)
  }
}

function medianOf(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0
}
