import { expect } from '@std/expect'
import { gatherLines } from '../../../functions/deliver/lines.ts'

Deno.test('gatherLines() writes lines together, in order, and the rest at a flush', async () => {
  const written: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const lines = gatherLines((text) => {
    written.push(text)
    resolve()
  })
  lines.write('1')
  lines.write('2')
  expect(written).toEqual([])
  await promise
  expect(written).toEqual(['1\n2\n'])
  lines.write('3')
  lines.flush()
  lines.flush()
  expect(written).toEqual(['1\n2\n', '3\n'])
})

Deno.test('gatherLines() does not wait when there is much to write', () => {
  const written: string[] = []
  const lines = gatherLines((text) => void written.push(text))
  lines.write('x'.repeat(70_000))
  expect(written).toHaveLength(1)
})
