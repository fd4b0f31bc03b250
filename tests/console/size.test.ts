/** The size of the page, compressed as a server would. */

import { expect } from '@std/expect'
import { buildPage } from '../../console/build/build.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { compressedSizes, totalOf } from '../bench/console/sizes.ts'

/** Of all files: the first load is smaller, because the chart comes with the first chart. */
const mostBytes = 85_000

Deno.test('the whole page has at most 85 kB compressed', async () => {
  const sizes = await compressedSizes(await buildPage(projectRoot))
  expect(sizes.map(({ path }) => path)).toContain('/assets/main.js')
  expect(totalOf(sizes)).toBeLessThanOrEqual(mostBytes)
})
