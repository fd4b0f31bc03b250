import { expect } from '@std/expect'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { endWithReader, printable } from '../../../package/command/terminal.ts'
import { shownCommand } from '../../../package/command/deploy/commands.ts'
import { withFile } from '../../../package/command/deploy/temporary_file.ts'

Deno.test('printable() escapes what could change the terminal, and keeps lines and JSON', () => {
  expect(printable('a\n\tb é 😀 €')).toBe('a\n\tb é 😀 €')
  expect(printable('\u001b]0;title\u0007\u009b2J\r\u202egnp.exe\u007f')).toBe(
    '\\u001b]0;title\\u0007\\u009b2J\\u000d\\u202egnp.exe\\u007f',
  )
  const value = { error: '\u009b2J\u202e\u001b' }
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value)
})

Deno.test('the command ends quietly if nobody reads its output any more', () => {
  const stream = new EventEmitter()
  const codes: number[] = []
  endWithReader(stream, (code) => codes.push(code))
  stream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  expect(codes).toEqual([141])
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  expect(() => stream.emit('error', full)).toThrow('no space')
})

Deno.test('shownCommand() hides the password of a database, also one that is not encoded', () => {
  for (
    const url of [
      'postgresql://postgres:p4ss@db.example:5432/postgres',
      'postgresql://postgres:p4ss/w@rd@db.example:5432/postgres',
      'postgresql://db.example/postgres?user=postgres&password=p4ss',
    ]
  ) {
    for (const args of [['--db-url', url], [`--remote=${url}`]]) {
      const shown = shownCommand(['db', 'push', ...args])
      expect(shown).toContain('db.example')
      expect(shown).not.toMatch(/p4ss|w@rd/)
    }
  }
})

Deno.test('withFile() deletes its file if a signal ends the process', async () => {
  const module = new URL('../../../package/command/deploy/temporary_file.ts', import.meta.url)
  const code = `import { withFile } from '${module}'
    await withFile('secrets.env', 'x', async (path) => {
      console.log(path)
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    })`
  const child = new Deno.Command(Deno.execPath(), {
    args: ['eval', code],
    stdout: 'piped',
    stderr: 'null',
  }).spawn()
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const path = (await reader.read()).value?.trim() ?? ''
  expect(existsSync(path)).toBe(true)
  child.kill('SIGINT')
  expect((await child.status).signal).toBe('SIGINT')
  expect(existsSync(path)).toBe(false)
  await reader.cancel()
  expect(await withFile('a', 'text', Deno.readTextFile)).toBe('text')
})
