import { expect } from '@std/expect'
import { type Tally, tallyProblems } from '../bench/run/checks.ts'
import { durabilityProblems } from '../bench/setup/durable.ts'

const sound: Tally = {
  ...{ published: 300, isDrained: true, distinct: 300, received: 300, wrong: 0 },
  ...{ claimed: 300, errors: 0, finished: 300, unfinished: 0 },
}

Deno.test('tallyProblems() finds nothing when all counts agree', () => {
  expect(tallyProblems(sound)).toEqual([])
  expect(tallyProblems({ ...sound, finished: null, unfinished: null })).toEqual([])
  const halfWay = { distinct: 100, received: 100, claimed: 100, finished: 100, unfinished: 200 }
  expect(tallyProblems({ ...sound, ...halfWay, isDrained: false })).toEqual([])
})

const doctored: [string, Partial<Tally>, string][] = [
  [
    'an event is lost',
    { distinct: 299, received: 299, claimed: 299, finished: 299, unfinished: 1 },
    '299 of 300 events arrived',
  ],
  ['more was claimed than arrived', { claimed: 301 }, '300 requests arrived for 301 claims'],
  ['one arrived twice', { received: 301, claimed: 301, finished: 301 }, '1 arrived a second time'],
  [
    'the database counts otherwise',
    { finished: 299 },
    'the store calls 299 finished, 300 arrived',
  ],
  ['the database kept one', { unfinished: 1 }, 'the store still holds 1, 0 did not arrive'],
  ['a body was wrong', { wrong: 1 }, '1 arrived with another size, number or signature'],
  ['a side erred', { errors: 2 }, 'the side made 2 errors'],
  [
    'a side erred and says how',
    { errors: 2, lastError: 'timeout' },
    'the side made 2 errors, the last: timeout',
  ],
]
for (const [name, change, problem] of doctored) {
  Deno.test(`tallyProblems() tells when ${name}`, () => {
    expect(tallyProblems({ ...sound, ...change })).toEqual([problem])
  })
}

Deno.test('durabilityProblems() names each setting that is not on', () => {
  const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
  expect(durabilityProblems(durable)).toEqual([])
  expect(durabilityProblems({ ...durable, synchronous_commit: 'local', fsync: 'off' })).toEqual([
    'fsync is off, not on: commits would not be durable',
    'synchronous_commit is local, not on: commits would not be durable',
  ])
})
