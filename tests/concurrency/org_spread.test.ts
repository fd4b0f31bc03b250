/** Endpoints of one organisation move between its databases while they take events: nothing is lost, repeated or late. */

import { expect } from '@std/expect'
import { type MoveDatabase, MoveError } from '../../package/command/move_org/database.ts'
import { homeOf } from '../../package/command/spread_org/plan.ts'
import { runSpreadOrg } from '../../package/command/spread_org/spread_org.ts'
import { spread } from '../../package/command/spread_org/spread.ts'
import { expectExactCounters } from './_support/checks.ts'
import {
  type Arrival,
  createEndpoint,
  deliver,
  type Project,
  startProject,
} from './_support/org_move.ts'
import {
  createRest,
  enabledIn,
  endpointFor,
  failing,
  org,
  spreadInput,
  take,
  told,
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

/** The numbers of the events that an endpoint has got, in the order of their arrival. */
async function numbersOf(arrivals: readonly Arrival[], endpoint: string): Promise<number[]> {
  const numbers: number[] = []
  for (const arrival of arrivals.filter((one) => one.endpoint === endpoint)) {
    const [row] = await arrival.project.sql<{ n: number }[]>`
      select (e.body::jsonb ->> 'n')::integer as n from outbox.event e where e.id = ${arrival.event}`
    numbers.push(row?.n ?? -1)
  }
  return numbers
}

/** Throws unless the endpoint got each event once, and those of each key in order. */
async function expectAll(
  arrivals: readonly Arrival[],
  endpoint: string,
  count: number,
): Promise<void> {
  const numbers = await numbersOf(arrivals, endpoint)
  for (const key of [0, 1, 2]) {
    const own = numbers.filter((n) => n % 3 === key)
    expect(own).toEqual(own.toSorted((left, right) => left - right))
  }
  expect(numbers.toSorted((left, right) => left - right))
    .toEqual(Array.from({ length: count }, (_, n) => n))
}

async function deliverAll(arrivals: Arrival[]): Promise<void> {
  await deliver(first, arrivals)
  await deliver(second, arrivals)
}

Deno.test('endpoints move to the database of their hash while both databases take events, each at its own pace', async () => {
  const endpoints = await Promise.all(
    Array.from({ length: 8 }, () => createEndpoint(first, org, ['a'], { p_ordering: 'partition' })),
  )
  const staying = await endpointFor(first, names, 'eu-1')
  const moving = [
    await endpointFor(first, names, 'eu-2'),
    await endpointFor(first, names, 'eu-2'),
  ]
  const all = [...endpoints, staying, ...moving]
  const arrivals: Arrival[] = []
  let published = 0
  let isOver = false
  // Between two rounds, nothing is open and both databases have the same events.
  const rest = createRest()
  const flowing = (async (): Promise<void> => {
    while (!isOver) {
      const numbers = [published, published + 1, published + 2]
      published += 3
      const order = published % 2 === 0 ? [first, second] : [second, first]
      for (const project of order) {
        await take(project, numbers)
        await deliver(project, arrivals)
      }
      await rest.here()
    }
  })()
  // The first hold comes at any moment, which one endpoint may not survive. The others find a rest, so that some move.
  let holds = 0
  const source = watched(first.move, async (call) => {
    if (call === 'hold_events' && holds++ > 0) await rest.begin()
  })
  const target = told(second.move, (call) => {
    if (call === 'hold_events') rest.end()
  })
  const said: string[] = []
  try {
    // One that had an open delivery when it was tried is left for the next run.
    const left = await spread(spreadInput(projects, {
      databases: new Map([
        ['eu-1', {
          ...source,
          call: async (name, ...more) => {
            if (name === 'spread_status') await rest.begin()
            // deno-lint-ignore no-explicit-any
            const result = await source.call<any>(name, ...more)
            if (name === 'spread_status') rest.end()
            return result
          },
        }],
        ['eu-2', target],
      ]),
      say: (text) => said.push(text),
    }))
    expect(left.arrivals).toEqual([])
    expect(said.filter((text) => text.includes('has moved from')).length).toBeGreaterThan(0)
  } finally {
    isOver = true
    rest.end()
    await flowing
  }
  // What had open deliveries moves now.
  await deliverAll(arrivals)
  const left = await spread(spreadInput(projects))
  expect(left).toMatchObject({ moves: [], arrivals: [], staying: [], atHome: all.length })
  await take(first, [published])
  await take(second, [published])
  await deliverAll(arrivals)
  for (const endpoint of all) {
    expect(await enabledIn(projects, endpoint)).toEqual([homeOf(names, endpoint)])
    await expectAll(arrivals, endpoint, published + 1)
  }
  await expectExactCounters(first.sql)
  await expectExactCounters(second.sql)
})

Deno.test('no endpoint moves while a database lacks an event that the other one has taken', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const arrivals: Arrival[] = []
  for (const [ahead, behind] of [[first, second], [second, first]] as const) {
    const n = ahead === first ? 0 : 1
    await take(ahead, [n])
    await deliverAll(arrivals)
    const held: string[] = []
    const databases = new Map(
      [...projects].map(([name, { move }]) => [name, watched(move, (call) => held.push(call))]),
    )
    const refused = await spread(spreadInput(projects, { databases, waitMs: 0 }))
      .catch((error) => error)
    expect(refused).toBeInstanceOf(MoveError)
    expect(refused.code).toBe('unequal')
    // Publishing does not stop for a comparison that fails.
    expect(held).toEqual([])
    expect(refused.hint).toContain(`source-${n}`)
    expect(await enabledIn(projects, endpoint)).toEqual(['eu-1'])
    await take(behind, [n])
    await deliverAll(arrivals)
  }
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 1 })
  await expectAll(arrivals, endpoint, 2)
})

Deno.test('no endpoint moves if a database takes an event after they were found equal', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const arrivals: Arrival[] = []
  let holds = 0
  const source = watched(first.move, async (call) => {
    if (call !== 'hold_events' || holds++ > 0) return
    await take(first, [0])
    await deliver(first, arrivals)
  })
  const said: string[] = []
  await spread(spreadInput(projects, {
    databases: new Map([['eu-1', source], ['eu-2', second.move]]),
    say: (text) => said.push(text),
    async pause(): Promise<void> {
      await take(second, [0])
      await deliver(second, arrivals)
    },
  }))
  expect([holds, said[0]]).toEqual([
    2,
    'Waiting: eu-2 has taken no event of org-1, and eu-1 has',
  ])
  await deliverAll(arrivals)
  expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
  await expectAll(arrivals, endpoint, 1)
})

Deno.test('no endpoint moves while events without a key keep the databases from being compared', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const arrivals: Arrival[] = []
  for (const project of [first, second]) {
    await project.sql`select outbox.publish('a', '{"n": 0}', ${org})`
  }
  await deliverAll(arrivals)
  const refused = await spread(spreadInput(projects)).catch((error) => error)
  expect([refused.code, refused.message]).toEqual([
    'incomparable',
    'eu-1 has events of org-1 that have no idempotency key, so the databases cannot be compared: ' +
    '1 of the newest 200',
  ])
  for (const project of [first, second]) {
    await take(project, Array.from({ length: 200 }, (_, n) => n))
  }
  await deliverAll(arrivals)
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 1 })
  expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
})

for (const step of ['receive_endpoint', 'leave_endpoint']) {
  Deno.test(`a connection that the server ends before ${step} is opened again, and the endpoint moves`, async () => {
    const endpoint = await endpointFor(first, names, 'eu-2')
    let isEnded = false
    // As the server does when a transaction was idle for too long.
    async function end(): Promise<void> {
      if (isEnded) return
      isEnded = true
      for (const { db } of projects.values()) {
        await db.admin`
          select pg_terminate_backend(a.pid, 5000) from pg_stat_activity a
          where a.application_name = 'outhook move-org' and a.datname = current_database()`
      }
    }
    const databases = new Map(
      [...projects].map(([name, { move }]) => [
        name,
        watched(move, (call) => call === step ? end() : undefined),
      ]),
    )
    const said: string[] = []
    const say = (text: string): void => void said.push(text)
    expect(await spread(spreadInput(projects, { databases, say })))
      .toMatchObject({ atHome: 1, moves: [], arrivals: [] })
    expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
    expect(said[0]).toMatch(/the connection failed \(CONNECTION_CLOSED\)/)
  })
}

Deno.test('an endpoint that has left its database when a connection ends arrives in the same run', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  let isEnded = false
  const call: MoveDatabase['call'] = async (name, ...rest) => {
    if (name === 'open_endpoint' && !isEnded) {
      isEnded = true
      throw new MoveError('eu-2: the connection failed', 'CONNECTION_CLOSED')
    }
    return await second.move.call(name, ...rest)
  }
  const target: MoveDatabase = { ...second.move, call }
  const databases = new Map([['eu-1', first.move], ['eu-2', target]])
  expect(await spread(spreadInput(projects, { databases })))
    .toMatchObject({ atHome: 1, moves: [], arrivals: [] })
  expect([isEnded, await enabledIn(projects, endpoint)]).toEqual([true, ['eu-2']])
})

Deno.test('outhook spread-org --dry-run compares the databases, and says what it would wait for', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  async function dryRun(): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = []
    const code = await runSpreadOrg(org, {
      database: names,
      routes: 'routes.json',
      empty: [],
      wait: 1,
      dryRun: true,
      yes: false,
    }, {
      env: { OUTHOOK_INTO_EU_1: first.db.dbUrl, OUTHOOK_INTO_EU_2: second.db.dbUrl },
      readFile: () => Promise.resolve(JSON.stringify({ [org]: names })),
      terminal: {
        isInteractive: false,
        print: (text) => void lines.push(...text.split('\n')),
        printError: (text) => void lines.push(text),
      },
    })
    return { code, lines: lines.slice(1) }
  }
  const moves = `${endpoint} moves from eu-1 to eu-2`
  expect(await dryRun())
    .toEqual({ code: 0, lines: [moves, 'eu-1 and eu-2 have taken the same events'] })
  await take(second, [0])
  await deliverAll([])
  expect(await dryRun()).toEqual({
    code: 0,
    lines: [
      moves,
      expect.stringMatching(
        /^It would wait: eu-1 has taken no event of org-1, and eu-2 has\. Both .* source-0$/,
      ),
    ],
  })
  await first.sql`select outbox.publish('b', '{}', ${org})`
  await deliverAll([])
  expect(await dryRun()).toMatchObject({
    code: 1,
    lines: [
      moves,
      expect.stringMatching(/^eu-1 has events of org-1 that have no/),
      expect.any(String),
    ],
  })
  expect(await enabledIn(projects, endpoint)).toEqual(['eu-1'])
})

Deno.test('an event that was being taken when the endpoint moved is delivered where the endpoint is', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  // In both it has its time before the switch, and is stored after it.
  const late = await Promise.all([first, second].map(async (project) => ({
    ...project,
    sql: (await project.db.open()).sql,
  })))
  let taking: Promise<unknown> | undefined
  const source: MoveDatabase = {
    ...first.move,
    within: (work) =>
      first.move.within((call) =>
        work(async (name, args, turn) => {
          if (name === 'send_endpoint') {
            taking = Promise.all(late.map((project) => take(project, [0])))
            await new Promise((done) => setTimeout(done, 300))
          }
          return await call(name, args, turn)
        })
      ),
  }
  await spread(spreadInput(projects, {
    databases: new Map([['eu-1', source], ['eu-2', second.move]]),
  }))
  expect(taking).toBeDefined()
  await taking
  const arrivals: Arrival[] = []
  await deliverAll(arrivals)
  expect(arrivals.map(({ project }) => project === second)).toEqual([true])
  await expectAll(arrivals, endpoint, 1)
})

const steps = [
  'hold_events',
  'carried_keys',
  'send_endpoint',
  'receive_endpoint',
  'leave_endpoint',
  'open_endpoint',
]

for (const step of steps) {
  for (const when of ['before', 'after'] as const) {
    Deno.test(`a run that ends ${when} ${step} loses and repeats nothing, and the next one continues`, async () => {
      const endpoint = await endpointFor(first, names, 'eu-2')
      const arrivals: Arrival[] = []
      const databases = new Map(
        [...projects].map(([name, { move }]) => [name, failing(move, step, when)]),
      )
      await expect(spread(spreadInput(projects, { databases }))).rejects.toThrow('killed')
      // The stream goes on although nobody runs the command again.
      for (const project of projects.values()) await take(project, [0, 1, 2, 3])
      await deliverAll(arrivals)
      expect(await spread(spreadInput(projects))).toMatchObject({
        atHome: 1,
        moves: [],
        arrivals: [],
      })
      for (const project of projects.values()) await take(project, [4, 5])
      await deliverAll(arrivals)
      expect(await enabledIn(projects, endpoint)).toEqual(['eu-2'])
      await expectAll(arrivals, endpoint, 6)
      await expectExactCounters(second.sql)
    })
  }
}

Deno.test('an endpoint that stays after all is removed from the database that had received it', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const databases = new Map([
    ['eu-1', failing(first.move, 'leave_endpoint', 'before')],
    ['eu-2', second.move],
  ])
  await expect(spread(spreadInput(projects, { databases }))).rejects.toThrow('killed')
  for (const project of projects.values()) await take(project, [0])
  const arrivals: Arrival[] = []
  await deliverAll(arrivals)
  expect(await spread(spreadInput(projects, { names: ['eu-1'] })))
    .toMatchObject({ atHome: 1, moves: [], arrivals: [] })
  for (const project of projects.values()) await take(project, [1])
  await deliverAll(arrivals)
  expect(await enabledIn(projects, endpoint)).toEqual(['eu-1'])
  await expectAll(arrivals, endpoint, 2)
  await expectExactCounters(second.sql)
})

Deno.test('an endpoint that is deleted before it is sent does not keep the others from moving', async () => {
  const gone = await endpointFor(first, names, 'eu-2')
  const endpoint = await endpointFor(first, names, 'eu-2')
  let isDeleted = false
  const source: MoveDatabase = {
    ...first.move,
    within: (work) =>
      first.move.within((call) =>
        work(async (name, args, turn) => {
          if (name === 'hold_events' && !isDeleted) {
            await first.sql`select outbox.delete_endpoint(${gone})`
            isDeleted = true
          }
          return await call(name, args, turn)
        })
      ),
  }
  expect(
    await spread(spreadInput(projects, {
      databases: new Map([['eu-1', source], ['eu-2', second.move]]),
    })),
  ).toMatchObject({ atHome: 1, moves: [], arrivals: [], staying: [] })
  expect([await enabledIn(projects, gone), await enabledIn(projects, endpoint)]).toEqual([[], [
    'eu-2',
  ]])
})

Deno.test('an endpoint that was deleted in its database before it had left does not arrive', async () => {
  const endpoint = await endpointFor(first, names, 'eu-2')
  const databases = new Map([
    ['eu-1', failing(first.move, 'leave_endpoint', 'before')],
    ['eu-2', second.move],
  ])
  await expect(spread(spreadInput(projects, { databases }))).rejects.toThrow('killed')
  await first.sql`select outbox.delete_endpoint(${endpoint})`
  expect(await spread(spreadInput(projects))).toMatchObject({ atHome: 0, moves: [], arrivals: [] })
  expect(await enabledIn(projects, endpoint)).toEqual([])
})

Deno.test('hold_events() lets nobody publish until the end of its transaction, and waits for whoever does', async () => {
  const session = await first.db.open()
  let isTaken = false
  let taking: Promise<void> | undefined
  await first.move.within(async (call) => {
    await call('hold_events', {})
    taking = take({ ...first, sql: session.sql }, [0]).then(() => void (isTaken = true))
    await new Promise((done) => setTimeout(done, 300))
    expect(isTaken).toBe(false)
  })
  await taking
  expect(isTaken).toBe(true)
  await session.sql`begin`
  await session.sql`select outbox.publish('a', '{}', ${org})`
  const refused = await first.move.within((call) => call('hold_events', {})).catch((error) => error)
  await session.sql`rollback`
  expect(refused.code).toBe('55P03')
})
