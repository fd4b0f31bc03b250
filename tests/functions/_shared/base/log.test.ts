import { expect } from '@std/expect'
import { createLog } from '../../../../functions/_shared/base/log.ts'

Deno.test('log() writes one line of JSON, and debug lines only if enabled', () => {
  for (const debug of [false, true]) {
    const lines: string[] = []
    const log = createLog({ debug, write: (line) => void lines.push(line), now: () => 0 })
    log('info', 'run ended', { run: 'r1', error: 'two\nlines' })
    log('debug', 'attempt', { attempt: 1 })
    expect(lines).toHaveLength(debug ? 2 : 1)
    expect(lines[0]).not.toContain('\n')
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'run ended',
      run: 'r1',
      error: 'two\nlines',
    })
  }
})
