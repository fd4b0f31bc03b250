import process from 'node:process'
import { expect } from '@std/expect'
import { denoRuntime } from '../../../../functions/_shared/runtime/deno_runtime.ts'
import { nodeRuntime } from '../../../../functions/_shared/runtime/node_runtime.ts'

const name = 'UV_THREADPOOL_SIZE'

Deno.test('lookups may use all threads of Deno, and under Node half of those that the operator sets', () => {
  expect(denoRuntime.lookupThreads()).toBe(32)
  const before = process.env[name]
  try {
    expect(denoRuntime.threadsProblem()).toBe(null)
    for (const [size, threads] of [['128', 64], ['5', 3], ['1', 1], ['many', 1]] as const) {
      process.env[name] = size
      expect([size, nodeRuntime.lookupThreads()]).toEqual([size, threads])
      expect(nodeRuntime.threadsProblem()).toBe(null)
    }
    delete process.env[name]
    expect(nodeRuntime.lookupThreads()).toBe(2)
    expect(nodeRuntime.threadsProblem()).toMatch(/set UV_THREADPOOL_SIZE=128$/)
  } finally {
    if (before !== undefined) process.env[name] = before
  }
})
