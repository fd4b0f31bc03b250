/** Where the databases of a run of tests are. */

import { expect } from '@std/expect'
import { leftOfGroup, type MemoryRoom, memoryRoot } from '../_support/memory_folder.ts'

const GIB = 1024 ** 3
const TMPFS = 0x01021994
const roomy: MemoryRoom = { type: TMPFS, free: 8 * GIB, available: 8 * GIB }

Deno.test('the databases of a run are in memory if there is room for them', () => {
  expect(memoryRoot('mark', () => roomy)).toBe('/dev/shm/outhook-')
  expect(memoryRoot('mark', () => ({ ...roomy, free: 8 * GIB - 1 }))).toBe(null)
  expect(memoryRoot('mark', () => ({ ...roomy, available: 8 * GIB - 1 }))).toBe(null)
})

Deno.test('a folder of that name that is on a disk, or not there, is no memory', () => {
  expect(memoryRoot('mark', () => ({ ...roomy, type: 0xEF53 }))).toBe(null)
  expect(memoryRoot('mark', () => null)).toBe(null)
})

Deno.test('what is no part of a run has its databases on the disk', () => {
  expect(memoryRoot(undefined, () => roomy)).toBe(null)
})

Deno.test('the limit of a container is one of its files in memory, too', () => {
  const group = (max: string): number =>
    leftOfGroup((path) => path.endsWith('memory.max') ? `${max}\n` : '1000\n')
  expect(group('5000')).toBe(4000)
  expect(group('max')).toBe(Infinity)
  expect(leftOfGroup(() => {
    throw new Deno.errors.NotFound()
  })).toBe(Infinity)
})
