import { expect } from '@std/expect'
import { parseOptions } from '../_run/options.ts'
import { makeFilter, namePattern, select } from '../_run/selection.ts'

const steps = ['ok', 'concurrency']
const files = ['tests/e2e/gateway_rpc.test.ts', 'tests/functions/sign.test.ts']

Deno.test('select() takes every file when there is no word', () => {
  expect(select(makeFilter([], steps, files), 'concurrency', files).whole).toEqual(files)
})

Deno.test('select() takes whole files whose path contains a word, in any case', () => {
  const selection = select(makeFilter(['Gateway'], steps, files), 'concurrency', files)
  expect(selection).toEqual({ whole: [files[0]], byName: [], names: [] })
})

Deno.test('select() looks for a word that no path contains in the names of tests', () => {
  const selection = select(makeFilter(['refuses'], steps, files), 'concurrency', files)
  expect(selection).toEqual({ whole: [], byName: files, names: ['refuses'] })
})

Deno.test('select() takes all of a step that a word names, and nothing of the others', () => {
  const filter = makeFilter(['concurrency'], steps, files)
  expect(select(filter, 'concurrency', files).whole).toEqual(files)
  expect(select(filter, 'end to end', files).whole).toEqual([])
})

Deno.test('namePattern() takes words as they are, not as patterns', () => {
  expect(namePattern(['sign()', 'a/b']).test('SIGN() does')).toBe(true)
  expect(namePattern(['a.b']).test('axb')).toBe(false)
})

Deno.test('parseOptions() refuses an option that it does not know', () => {
  expect(parseOptions(['--fast'])).toEqual({
    ok: false,
    message:
      'Unknown option "--fast": known are --all, --slow, --soak, --short, --again N, --minutes N, --seed S, --seeds N, --scale N and --postgres 17',
  })
})

Deno.test('parseOptions() runs all of what words select, and with --short what a short run has of it', () => {
  expect(parseOptions(['claim'])).toMatchObject({ options: { all: true } })
  expect(parseOptions(['--short', 'claim'])).toMatchObject({ options: { all: false } })
  expect(parseOptions(['--short', '--all'])).toEqual({
    ok: false,
    message: '--all does not go with --short',
  })
})

Deno.test('parseOptions() takes the version of Postgres, and no other than 17', () => {
  expect(parseOptions(['--postgres', '17', 'claim'])).toEqual({
    ok: true,
    options: {
      soak: false,
      short: false,
      all: true,
      slow: false,
      again: 0,
      words: ['claim'],
      postgres: 17,
      minutes: null,
      seed: null,
      seeds: null,
      scale: null,
    },
  })
  expect(parseOptions(['claim'])).toMatchObject({ options: { postgres: null } })
  for (const args of [['--postgres'], ['--postgres', '18'], ['--postgres', 'claim']]) {
    expect(parseOptions(args).ok).toBe(false)
  }
})

Deno.test('parseOptions() takes minutes and a seed for soak, and for nothing else', () => {
  expect(parseOptions(['--soak', 'chaos', '--minutes', '30', '--seed', '7'])).toMatchObject({
    options: { soak: true, minutes: 30, seed: 7, words: ['chaos'] },
  })
  expect(parseOptions(['--soak'])).toMatchObject({ options: { minutes: null, seed: null } })
  for (const args of [['--minutes', '0'], ['--minutes', '1441'], ['--minutes'], ['--seed', 'x']]) {
    expect(parseOptions(['--soak', ...args]).ok).toBe(false)
  }
  expect(parseOptions(['--seed', '7']).ok).toBe(false)
})

Deno.test('parseOptions() takes a number of seeds for soak, and for nothing else', () => {
  expect(parseOptions(['--soak', 'chaos', '--seed', '100', '--seeds', '30'])).toMatchObject({
    options: { soak: true, seed: 100, seeds: 30, words: ['chaos'] },
  })
  expect(parseOptions(['--soak'])).toMatchObject({ options: { seeds: null } })
  for (const args of [['--seeds', '0'], ['--seeds', '1001'], ['--seeds']]) {
    expect(parseOptions(['--soak', ...args]).ok).toBe(false)
  }
  expect(parseOptions(['--seeds', '30']).ok).toBe(false)
})

Deno.test('parseOptions() takes a scale from 20 on for soak, and for nothing else', () => {
  expect(parseOptions(['--soak', 'days', '--scale', '100'])).toMatchObject({
    options: { soak: true, scale: 100, words: ['days'] },
  })
  expect(parseOptions(['--soak', '--scale', '19']).ok).toBe(false)
  expect(parseOptions(['--scale', '100']).ok).toBe(false)
})

Deno.test('parseOptions() takes how many failed parts run again, from 0 to 9', () => {
  expect(parseOptions(['--all', '--again', '3'])).toMatchObject({
    options: { all: true, again: 3, words: [] },
  })
  for (const args of [['--again'], ['--again', '10'], ['--again', '-1'], ['--again', 'claim']]) {
    expect(parseOptions(args)).toEqual({
      ok: false,
      message: '--again takes a number from 0 to 9',
    })
  }
})
