import { expect } from '@std/expect'
import {
  homeOf,
  type PlaceStatus,
  planMoves,
  whyNoSpread,
} from '../../../package/command/spread_org/plan.ts'
import { showPlan } from '../../../package/command/spread_org/spread_org.ts'

const names = ['eu-1', 'eu-2', 'eu-3']
const ids = Array.from(
  { length: 1_500 },
  (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
)

function place(
  endpoints: (Partial<PlaceStatus['endpoints'][number]> & { id: string })[],
  more: Partial<PlaceStatus> = {},
): PlaceStatus {
  return {
    server: crypto.randomUUID(),
    version: '0.1.0',
    blockers: [],
    endpoints: endpoints.map((one) => ({ from: null, why: null, ...one })),
    ...more,
  }
}

/** An endpoint whose database is `home`. */
function idOf(home: string, at = 0): string {
  return ids.filter((id) => homeOf(names, id) === home)[at] ?? ''
}

Deno.test('homeOf() has these databases for these endpoints in each version', () => {
  expect(ids.slice(0, 8).map((id) => homeOf(names, id)).join(' '))
    .toBe('eu-2 eu-2 eu-2 eu-1 eu-1 eu-1 eu-2 eu-2')
})

Deno.test('a further database takes over only its own part of the endpoints, about one of three', () => {
  const moved = ids.filter((id) => homeOf(['eu-1', 'eu-2'], id) !== homeOf(names, id))
  expect([...new Set(moved.map((id) => homeOf(names, id)))]).toEqual(['eu-3'])
  expect(Math.abs(moved.length - 500)).toBeLessThan(80)
})

Deno.test('planMoves() says what moves, what is on its way, what stays and what is at home', () => {
  const [away, home, busy, arriving, doubled] = [
    idOf('eu-2'),
    idOf('eu-1'),
    idOf('eu-3'),
    idOf('eu-2', 1),
    idOf('eu-2', 2),
  ]
  const places = new Map([
    [
      'eu-1',
      place([
        { id: away },
        { id: home },
        { id: busy, why: 'has open deliveries: 3' },
        { id: doubled },
      ]),
    ],
    ['eu-2', place([{ id: arriving, from: 'eu-1' }, { id: doubled, from: 'eu-1' }])],
    ['eu-3', place([])],
  ])
  const plan = planMoves(places, names)
  expect(plan).toEqual({
    moves: [{ id: away, from: 'eu-1', to: 'eu-2' }, { id: doubled, from: 'eu-1', to: 'eu-2' }],
    arrivals: [
      { id: arriving, from: 'eu-1', to: 'eu-2' },
      { id: doubled, from: 'eu-1', to: 'eu-2' },
    ],
    staying: [`eu-1: ${busy} has open deliveries: 3`],
    atHome: 1,
  })
  expect(whyNoSpread(places, plan)).toEqual([])
  expect(showPlan('org-1', plan)).toBe(
    [
      'Endpoints of org-1 where they belong: 1, to move: 2, on their way: 2, staying for now: 1',
      `${away} moves from eu-1 to eu-2`,
      `${doubled} moves from eu-1 to eu-2`,
      `${arriving} is on its way from eu-1 to eu-2`,
      `${doubled} is on its way from eu-1 to eu-2`,
      `eu-1: ${busy} has open deliveries: 3`,
    ].join('\n'),
  )
})

Deno.test('a database that is emptied keeps no endpoint, and gets none', () => {
  const places = new Map([
    ['eu-1', place(ids.slice(0, 50).map((id) => ({ id })))],
    ['eu-2', place([])],
    ['eu-3', place([])],
  ])
  const { moves, atHome } = planMoves(places, ['eu-2', 'eu-3'])
  expect(atHome).toBe(0)
  expect(moves).toHaveLength(50)
  expect(new Set(moves.map(({ to }) => to))).toEqual(new Set(['eu-2', 'eu-3']))
})

Deno.test('whyNoSpread() names what makes a move wrong', () => {
  const id = idOf('eu-2')
  const rows: [places: [string, PlaceStatus][], reason: string][] = [
    [
      [['eu-1', place([{ id }], { server: 'x' })], ['eu-2', place([], { server: 'x' })]],
      'eu-1 and eu-2 are the same database',
    ],
    [
      [['eu-1', place([{ id }])], ['eu-2', place([], { version: '0.2.0' })]],
      'The databases have different versions of Outhook: 0.1.0, 0.2.0',
    ],
    [
      [['eu-1', place([{ id }])], ['eu-2', place([{ id }])]],
      `eu-1 and eu-2 both have endpoint ${id}`,
    ],
    [
      [['eu-2', place([{ id, from: 'eu-1' }])]],
      `Endpoint ${id} moves from eu-1 to eu-2: give eu-1, too`,
    ],
    [
      [['eu-1', place([{ id }])], ['eu-2', place([], { blockers: ['events wait for routing'] })]],
      'eu-2: events wait for routing',
    ],
  ]
  for (const [places, reason] of rows) {
    const all = new Map(places)
    const own = [...all.keys()]
    // Of three databases, eu-2 is the one of the id, and of two of them too.
    expect(whyNoSpread(all, planMoves(all, own))).toEqual([reason])
  }
})

Deno.test('what prevents nothing is not named', () => {
  const places = new Map([
    ['eu-1', place([{ id: idOf('eu-1') }], { blockers: ['events wait for routing'] })],
    ['eu-2', place([])],
    ['eu-3', place([])],
  ])
  expect(whyNoSpread(places, planMoves(places, names))).toEqual([])
})
