import { expect } from '@std/expect'
import { readJunit } from '../_run/junit.ts'
import { duration, slowestOf, timesOf } from '../_run/report.ts'

Deno.test('duration() has minutes from the first one on', () => {
  expect([0.04, 59.94, 60, 245, 3599.6].map(duration)).toEqual([
    '0.0 s',
    '59.9 s',
    '1 min 00 s',
    '4 min 05 s',
    '60 min 00 s',
  ])
})

Deno.test('timesOf() shows each step and the whole', () => {
  const table = timesOf([
    { name: 'ok', clock: 20, work: 30 },
    { name: 'end to end', clock: 100, work: 190 },
  ], 110)
  expect(table.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['by the clock', 'of all parts'],
    ['ok', '20.0 s', '30.0 s'],
    ['end to end', '1 min 40 s', '3 min 10 s'],
    ['in all', '1 min 50 s', '3 min 40 s'],
    [''],
  ])
})

Deno.test('slowestOf() lists at most thirty, the slowest first', () => {
  const timed = Array.from({ length: 40 }, (_, n) => ({ name: `test ${n}`, seconds: n }))
  const lines = slowestOf('tests', timed).trimEnd().split('\n')
  expect(lines).toHaveLength(31)
  expect(lines[0]).toBe('The slowest tests:')
  expect(lines[1]?.trim()).toBe('39.0 s  test 39')
  expect(lines[30]?.trim()).toBe('10.0 s  test 10')
})

Deno.test('readJunit() reads the report that deno test writes', async () => {
  const folder = await Deno.makeTempDir()
  try {
    await Deno.writeTextFile(
      `${folder}/one.test.ts`,
      `Deno.test('a "quoted" <name> & more', async () => { await new Promise((r) => setTimeout(r, 50)) })`,
    )
    await new Deno.Command(Deno.execPath(), {
      args: ['test', '--no-config', `--junit-path=${folder}/junit.xml`, 'one.test.ts'],
      cwd: folder,
      stdout: 'null',
      stderr: 'null',
    }).output()
    const [test, ...more] = readJunit(await Deno.readTextFile(`${folder}/junit.xml`))
    expect(more).toEqual([])
    expect(test?.name).toBe('one.test.ts: a "quoted" <name> & more')
    expect(test?.seconds).toBeGreaterThanOrEqual(0.04)
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})
