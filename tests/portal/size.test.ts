/** The size of the element, compressed as a server would. */

import { expect } from '@std/expect'
import { buildPortal } from '../../portal/build/build.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

const mostBytes = 60_000

Deno.test('the element is one module of at most 60 kB compressed', async () => {
  const files = await buildPortal(projectRoot)
  const bytes = files.get('outhook-portal.js') ?? new Uint8Array()
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))
  const compressed = (await new Response(stream).arrayBuffer()).byteLength
  expect(compressed).toBeGreaterThan(10_000)
  expect(compressed).toBeLessThanOrEqual(mostBytes)
  // It loads nothing else.
  expect(/\bimport\("|\bfrom\s*"\./.test(new TextDecoder().decode(bytes))).toBe(false)
})
