/** `outhook across` over a source and two databases into which its events were carried, one of them away at times. */

import { expect } from '@std/expect'
import { across, type AcrossOptions, type Question } from '../../package/command/across/across.ts'
import { version } from '../../functions/_shared/base/version.ts'
import { report, Run } from '../concurrency/_support/dispatch.ts'
import { startTarget, type Target } from '../consumer/_support/targets.ts'

let source: Target
let targets: readonly [Target, Target]

Deno.test.beforeAll(async () => {
  const [one, first, second] = await Promise.all([
    startTarget('source'),
    startTarget('eu-1'),
    startTarget('eu-2'),
  ])
  source = one
  targets = [first, second]
  for (const { sql } of targets) {
    for (const org of ['org-1', 'org-2']) {
      await sql`select outbox.create_endpoint('https://example.com/hook', '{order.*}', ${org})`
    }
  }
})
Deno.test.afterAll(async () => {
  for (const target of [source, ...targets ?? []]) await target?.[Symbol.asyncDispose]()
})

/** Publishes an event with an idempotency key, as consume --into does, and returns its id. */
async function take(
  target: Target,
  org: string,
  key: string,
  type = 'order.paid',
): Promise<string> {
  const [row] = await target.sql<{ id: string }[]>`
    select outbox.publish(${type}, '{}', ${org}, p_idempotency_key => ${key}) as id`
  return row?.id ?? ''
}

/** Sends what is due; the receiver refuses all of it for good. */
async function refuseAll({ sql }: Target): Promise<void> {
  const run = new Run(sql)
  await run.call()
  const { deliveries } = await run.call([], 50)
  await run.call(deliveries.map((delivery) => ({ ...report(delivery, 'failed'), status: 404 })))
}

type Ended = { code: number; out: string; errors: string[] }

/** Runs the command for all three databases; `more` replaces options. */
async function run(
  question: Question,
  text: string | undefined,
  more: Partial<AcrossOptions> = {},
  env: Record<string, string> = {},
): Promise<Ended> {
  const all = [source, ...targets]
  const [out, errors]: [string[], string[]] = [[], []]
  const urls = all.map(({ name, url }) => [
    `OUTHOOK_INTO_${name.toUpperCase().replaceAll('-', '_')}`,
    url,
  ])
  const code = await across(
    question,
    text,
    { database: all.map(({ name }) => name), limit: 50, timeout: 10, json: false, ...more },
    {
      version,
      env: { ...Object.fromEntries(urls), ...env },
      readFile: Deno.readTextFile,
      terminal: {
        isInteractive: false,
        print: (line) => void out.push(line),
        printError: (line) => void errors.push(line),
      },
    },
  )
  return { code, out: out.join('\n'), errors }
}

/** The cells of a table, without its head. */
function cells(table: string): string[][] {
  return table.split('\n').slice(1).map((line) => line.split(/ {2,}/))
}

async function clear(): Promise<void> {
  for (const target of [source, ...targets]) {
    await target.clear()
    await target.sql`truncate outbox.idempotency_key, outbox.dead_letter, outbox.delivery`
  }
}

Deno.test('across dead-letters shows those of all databases and organisations, the newest first', async () => {
  await clear()
  const [first, second] = targets
  const placed: [Target, string, string][] = [
    [first, 'org-1', 'order.a'],
    [second, 'org-2', 'order.b'],
    [first, 'org-2', 'order.c'],
    [second, 'org-1', 'order.d'],
  ]
  for (const [target, org, type] of placed) {
    await take(target, org, type, type)
    await refuseAll(target)
  }
  const all = await run('dead-letters', undefined)
  expect([all.code, all.errors]).toEqual([0, []])
  expect(cells(all.out).map(([, database, org, status, type]) => [database, org, status, type]))
    .toEqual([
      ['eu-2', 'org-1', 'open', 'order.d'],
      ['eu-1', 'org-2', 'open', 'order.c'],
      ['eu-2', 'org-2', 'open', 'order.b'],
      ['eu-1', 'org-1', 'open', 'order.a'],
    ])
  const two = await run('dead-letters', undefined, { limit: 2 })
  expect(cells(two.out).slice(0, 2).map(([, database, , , type]) => [database, type]))
    .toEqual([['eu-2', 'order.d'], ['eu-1', 'order.c']])
  expect(two.out).toContain('There are more than these 2: add --limit')
  const own = await run('dead-letters', undefined, { org: 'org-1', status: 'open', json: true })
  const { deadLetters, hasMore, databases } = JSON.parse(own.out)
  expect(deadLetters.map((letter: Record<string, string>) => [letter.database, letter.eventType]))
    .toEqual([['eu-2', 'order.d'], ['eu-1', 'order.a']])
  expect(hasMore).toBe(false)
  expect(databases).toEqual(
    ['source', 'eu-1', 'eu-2'].map((name) => ({ name, problem: null })),
  )
})

Deno.test('across search follows an event from the source to its database by the id alone', async () => {
  await clear()
  const [first, second] = targets
  const id = await take(source, 'org-1', 'paid-1')
  const other = await take(source, 'org-1', 'paid-2')
  const carried = await take(second, 'org-1', id)
  await take(first, 'org-1', other)
  await refuseAll(second)
  const found = await run('search', id)
  expect([found.code, found.errors]).toEqual([0, []])
  const rows = cells(found.out).map((
    [database, by, org, event, type, , deliveries],
  ) => [database, by, org, event, type, deliveries])
  expect(rows).toEqual([
    ['source', 'id', 'org-1', id, 'order.paid', 'none'],
    ['eu-2', 'idempotency key', 'org-1', carried, 'order.paid', '1 dead_letter'],
  ])
  const byKey = await run('search', 'paid-1', { org: 'org-1', json: true })
  expect(JSON.parse(byKey.out).matches).toMatchObject([
    { database: 'source', by: 'idempotency key', eventId: id },
  ])
  await second.sql`delete from outbox.event where id = ${carried}`
  const kept = await run('search', carried)
  expect(cells(kept.out)[0]).toMatchObject([
    'eu-2',
    'id',
    'org-1',
    carried,
    '-',
    'not stored any more',
    '1 dead_letter …',
  ])
  const none = await run('search', crypto.randomUUID())
  expect([none.code, none.out]).toMatchObject([
    0,
    expect.stringMatching(/^No database has an event/),
  ])
})

Deno.test('across health names the findings of each database, and ends with 5 if one is an error', async () => {
  await clear()
  await take(targets[0], 'org-1', 'k')
  await refuseAll(targets[0])
  const found = await run('health', undefined)
  expect([found.code, found.errors]).toEqual([5, []])
  expect(cells(found.out).slice(0, 3).map(([name, own]) => [name, own]))
    .toEqual([['source', version], ['eu-1', version], ['eu-2', version]])
  expect(found.out).toContain('eu-1: warning: Dead letters that nobody replayed or discarded: 1')
  expect(found.out).not.toContain('eu-2: warning: Dead letters')
  const json = JSON.parse((await run('health', undefined, { json: true })).out)
  expect(
    json.health.map((
      { database, queue }: { database: string; queue: { dead_letters: number } },
    ) => [
      database,
      queue.dead_letters,
    ]),
  ).toEqual([['source', 0], ['eu-1', 1], ['eu-2', 0]])
})

Deno.test('across shows what the others have when one database is away, silent or without Outhook', async () => {
  await clear()
  const [first, second] = targets
  const id = await take(source, 'org-1', 'away')
  await take(second, 'org-1', id)
  first.proxy.down()
  try {
    for (const question of ['health', 'dead-letters', 'search'] as const) {
      const away = await run(question, question === 'search' ? id : undefined)
      expect([question, away.code, away.errors])
        .toEqual([question, 1, ['eu-1 did not answer: the connection failed (ECONNREFUSED)']])
    }
    const found = await run('search', id, { json: true })
    expect(JSON.parse(found.out).matches.map(({ database }: { database: string }) => database))
      .toEqual(['source', 'eu-2'])
  } finally {
    first.proxy.up()
  }
  using silent = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const url = `postgresql://postgres:s3cret@127.0.0.1:${silent.addr.port}/postgres`
  const begun = performance.now()
  const late = await run('search', id, { timeout: 1 }, { OUTHOOK_INTO_EU_1: url })
  expect(performance.now() - begun).toBeLessThan(8_000)
  expect([late.code, late.errors.length, late.out.includes('eu-2')]).toEqual([1, 1, true])
  expect(late.errors[0]).toMatch(/^eu-1 did not answer: /)
  expect(late.errors[0]).not.toContain('s3cret')
  const empty = new URL(first.url)
  empty.pathname = '/template1'
  const without = await run('dead-letters', undefined, {}, { OUTHOOK_INTO_EU_1: empty.href })
  expect([without.code, without.errors]).toEqual([1, [
    expect.stringMatching(
      /^eu-1 did not answer: .*it needs Outhook of the version of this command/,
    ),
  ]])
})

Deno.test('across reads databases from a file, and says what is wrong without a secret', async () => {
  const [first] = targets
  const path = await Deno.makeTempFile()
  try {
    await Deno.writeTextFile(path, JSON.stringify({ one: first.url }))
    const read = await run('health', undefined, { database: [], databases: path })
    expect(cells(read.out)[0]?.[0]).toBe('one')
    const rows: [text: string, says: RegExp][] = [
      ['{"one": "postgresql://x:sec#ret@h/p"}', /^--database one is not a URL/],
      ['{"one": "postgresql://x:sec', /^--databases \S+ is not JSON$/],
      ['["sec"]', /^--databases \S+ is not an object such as/],
      ['{"one": 1}', /^--databases \S+ is not an object such as/],
    ]
    for (const [text, says] of rows) {
      await Deno.writeTextFile(path, text)
      const { code, out, errors } = await run('health', undefined, {
        database: [],
        databases: path,
      })
      expect([code, out, errors]).toEqual([2, '', [expect.stringMatching(says)]])
      expect(errors[0]).not.toContain('sec')
    }
  } finally {
    await Deno.remove(path)
  }
  const usage: [Question, string | undefined, Partial<AcrossOptions>, RegExp][] = [
    ['health', undefined, { database: [] }, /^Give at least one --database/],
    ['health', undefined, { databases: '/none.json' }, /^--databases \/none\.json cannot be read/],
    ['health', 'x', {}, /^health takes no text/],
    ['health', undefined, { org: 'o' }, /^health takes neither --org nor --status/],
    ['search', undefined, {}, /^search takes the id of an event/],
    ['search', 'paid-1', {}, /^Add --org/],
    ['search', 'paid-1', { org: 'o', status: 'open' }, /^search does not take --status/],
  ]
  for (const [question, text, options, says] of usage) {
    const { code, errors } = await run(question, text, options)
    expect([question, code, errors]).toEqual([question, 2, [expect.stringMatching(says)]])
  }
})
