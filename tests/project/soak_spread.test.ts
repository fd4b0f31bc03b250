/** The checks of the soak test of one organisation in several databases fail on what they are for. */

import { expect } from '@std/expect'
import { homeOf } from '../../package/command/spread_org/plan.ts'
import { findStrays, takenTwice } from '../soak/spread/evidence.ts'

Deno.test('an event that one database has taken twice is found', () => {
  const keys = new Map([['a', 'first'], ['b', 'second'], ['c', 'first']])
  expect(takenTwice({ name: 'eu-1', keys })).toEqual([
    { promise: 'duplicate', what: 'eu-1 has taken first 2 times' },
  ])
  expect(takenTwice({ name: 'eu-1', keys: new Map([['a', 'first'], ['b', 'second']]) })).toEqual([])
})

Deno.test('an endpoint is found that is elsewhere, in two databases, or not enabled', () => {
  const id = '0190a0b0-0000-7000-8000-000000000001'
  const active = ['eu-1', 'eu-2']
  const home = homeOf(active, id) ?? ''
  const other = active.find((name) => name !== home) ?? ''
  const found = (places: Record<string, boolean>): string[] =>
    findStrays(
      active.map((name) => ({
        name,
        here: new Map(name in places ? [[id, places[name] ?? false]] : []),
      })),
      active,
    ).map(({ what }) => what)
  expect(found({ [home]: true })).toEqual([])
  expect(found({ [other]: true })).toEqual([`${id} belongs in ${home}, and is in ${other}`])
  expect(found({ [home]: false }))
    .toEqual([`${id} belongs in ${home}, and is in ${home} (not enabled)`])
  expect(found({ [home]: true, [other]: true }).length).toBe(1)
})
