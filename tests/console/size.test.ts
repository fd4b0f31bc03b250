/** The size of the page, compressed as a server would. */

import { expect } from '@std/expect'
import { buildPage } from '../../console/build/build.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { compressedSizes, firstLoad, totalOf } from '../bench/console/sizes.ts'

Deno.test('the first load of the page has at most 85 kB compressed, a later view at most 25 kB', async () => {
  const files = await buildPage(projectRoot)
  const sizes = await compressedSizes(files)
  const needed = firstLoad(files)
  const first = sizes.filter(({ path }) => needed.has(path))
  expect(first.map(({ path }) => path)).toContain('/assets/main.js')
  expect(totalOf(first)).toBeLessThanOrEqual(85_000)
  const later = sizes.filter(({ path }) => !needed.has(path))
  // The chart is the largest of them.
  expect(later.length).toBeGreaterThan(3)
  for (const { path, compressed } of later) {
    expect([path, compressed <= 25_000]).toEqual([path, true])
  }
})
