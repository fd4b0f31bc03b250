import { expect } from '@std/expect'
import { writeTo } from '../../package/worker/lines.ts'

Deno.test('each line of a text goes to the log of the program', () => {
  const lines: string[] = []
  writeTo((line) => void lines.push(line))('{"a":1}\n{"b":2}\n')
  expect(lines).toEqual(['{"a":1}', '{"b":2}'])
})

Deno.test('a log that throws ends nothing', () => {
  const write = writeTo(() => {
    throw new Error('full')
  })
  expect(() => write('\n')).not.toThrow()
  expect(() => write('{"level":"info"}\n')).not.toThrow()
})
