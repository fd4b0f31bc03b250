/** One endpoint that cannot move or arrive does not keep the others of its organisation, and is not lost. */

import { expect } from '@std/expect'
import { runSpreadOrg } from '../../package/command/spread_org/spread_org.ts'
import { spread } from '../../package/command/spread_org/spread.ts'
import { type Arrival, deliver, type Project, startProject } from './_support/org_move.ts'
import {
  enabledIn,
  endpointFor,
  failing,
  org,
  spreadInput,
  take,
  watched,
} from './_support/spread.ts'

const names = ['eu-1', 'eu-2']

let first: Project
let second: Project
let projects: Map<string, Project>

Deno.test.beforeAll(async () => {
  first = await startProject('eu-1')
  second = await startProject('eu-2')
  projects = new Map([['eu-1', first], ['eu-2', second]])
})
Deno.test.beforeEach(async () => {
  await first.db.reset()
  await second.db.reset()
})
Deno.test.afterAll(async () => {
  await first?.[Symbol.asyncDispose]()
  await second?.[Symbol.asyncDispose]()
})

Deno.test('an endpoint that somebody has locked stays, and the others do not wait for it', async () => {
  const locked = await endpointFor(first, names, 'eu-2')
  const others = [
    await endpointFor(first, names, 'eu-2'),
    await endpointFor(first, names, 'eu-2'),
  ]
  const session = await first.db.open()
  let holds = 0
  const source = watched(first.move, (call) => call === 'hold_events' && holds++)
  const said: string[] = []
  await session.sql`begin`
  try {
    await session.sql`update outbox.endpoint set description = '' where id = ${locked}`
    expect(
      await spread(spreadInput(projects, {
        databases: new Map([['eu-1', source], ['eu-2', second.move]]),
        say: (text) => said.push(text),
      })),
    ).toMatchObject({ atHome: 2, moves: [{ id: locked }], arrivals: [], staying: [] })
    const code = await runSpreadOrg(
      org,
      {
        database: names,
        routes: 'routes.json',
        empty: [],
        wait: 120,
        dryRun: false,
        yes: true,
      },
      {
        env: { OUTHOOK_INTO_EU_1: first.db.dbUrl, OUTHOOK_INTO_EU_2: second.db.dbUrl },
        readFile: () => Promise.resolve(JSON.stringify({ [org]: names })),
        terminal: { isInteractive: false, print: () => {}, printError: () => {} },
      },
    )
    expect(code).toBe(5)
  } finally {
    await session.sql`rollback`
  }
  for (const endpoint of others) expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
  expect(await enabledIn(projects, locked)).toEqual(['eu-1'])
  expect(said.at(-1)).toBe(
    `Not moved: eu-1: endpoint ${locked} is in use by another transaction. ` +
      'It stays where it is. Run the command again when this has ended',
  )
  // With all of them, without it, and once more with it.
  expect(holds).toBe(3)
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 3, moves: [] })
})

Deno.test('all endpoints wait together while events wait for routing', async () => {
  const both = [await endpointFor(first, names, 'eu-2'), await endpointFor(first, names, 'eu-2')]
  for (const project of projects.values()) await take(project, [0])
  let holds = 0
  const source = watched(first.move, (call) => call === 'hold_events' && holds++)
  const arrivals: Arrival[] = []
  await spread(spreadInput(projects, {
    databases: new Map([['eu-1', source], ['eu-2', second.move]]),
    async pause(): Promise<void> {
      await deliver(first, arrivals)
      await deliver(second, arrivals)
    },
  }))
  expect(holds).toBe(2)
  for (const endpoint of both) expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
})

Deno.test('an arrival that somebody has locked stays on its way, and the others arrive', async () => {
  const both = [await endpointFor(first, names, 'eu-2'), await endpointFor(first, names, 'eu-2')]
  const databases = new Map([
    ['eu-1', first.move],
    ['eu-2', failing(second.move, 'open_endpoint', 'before')],
  ])
  await expect(spread(spreadInput(projects, { databases }))).rejects.toThrow('killed')
  const [locked, other] = both.toSorted()
  const session = await second.db.open()
  await session.sql`begin`
  try {
    await session.sql`select from outbox.endpoint where id = ${locked ?? ''} for update`
    expect(await spread(spreadInput(projects)))
      .toMatchObject({ atHome: 1, moves: [], arrivals: [{ id: locked }] })
  } finally {
    await session.sql`rollback`
  }
  expect(await enabledIn(projects, other ?? '')).toEqual(['eu-2'])
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 2, arrivals: [] })
})

Deno.test('an endpoint that has left is not dropped if its new database has another name now', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const databases = new Map([
    ['eu-1', first.move],
    ['eu-2', failing(second.move, 'open_endpoint', 'before')],
  ])
  await expect(spread(spreadInput(projects, { databases }))).rejects.toThrow('killed')
  const renamed = new Map([['eu-1', first.move], ['eu-two', second.move]])
  const refused = await spread(
    spreadInput(projects, { databases: renamed, names: [...renamed.keys()] }),
  ).catch((error) => error)
  expect([refused.code, refused.message]).toEqual([
    'OH004',
    `eu-1: endpoint ${endpoint} has moved to eu-2, and not to eu-two`,
  ])
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 1, arrivals: [] })
  expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
})
