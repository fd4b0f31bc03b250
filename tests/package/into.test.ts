/** `outhook consume`, packed and installed: from a database over a real RabbitMQ into two others. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { databasesOf } from '../../consumer/into/routes.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { nodeCommand } from '../_support/node.ts'
import { patienceMs } from '../_support/patience.ts'
import { startWorker } from '../_support/worker_process.ts'
import type { Bus } from '../consumer/_support/bus.ts'
import { startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { endpointOf } from '../consumer/_support/source_endpoint.ts'
import { carriedMessages, startTarget, type Target } from '../consumer/_support/targets.ts'
import { docsBlock } from '../project/_docs.ts'
import { type Program, startProgram } from './_support/program.ts'
import { type WorkerFolder, workerFolder } from './_support/worker_folder.ts'

let user: WorkerFolder
let bus: Bus
let source: Target
let targets: readonly [Target, Target]

Deno.test.beforeAll(async () => {
  let first: Target, second: Target
  ;[user, bus, source, first, second] = await Promise.all([
    workerFolder({ command: true }),
    startRabbitMqBus(),
    startTarget('source'),
    startTarget('eu-1'),
    startTarget('eu-2'),
  ])
  targets = [first, second]
})
Deno.test.afterAll(async () => {
  await bus?.[Symbol.asyncDispose]()
  for (const target of [source, ...targets ?? []]) await target?.[Symbol.asyncDispose]()
  await user?.[Symbol.asyncDispose]()
})

const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock']
const script = (): string => join(user.path, 'node_modules/outhook-command/outhook.js')

/** Starts the `outhook consume` of a block of the page. */
function consumeBy(block: string, runtime: readonly string[]): Program {
  const command = docsBlock(block).split('\n')
    .find((line) => line.startsWith('npx --no outhook consume ')) ?? ''
  const args = command.replace('npx --no outhook ', '').split(' ')
  return startProgram([...runtime, script(), ...args, '--json'], user.path, {
    ...bus.env,
    OUTHOOK_INTO_EU_1: targets[0].url,
    OUTHOOK_INTO_EU_2: targets[1].url,
  })
}

for (const runtime of ['Node', 'Deno'] as const) {
  Deno.test(`the commands of the page carry events from a database into two others, under ${runtime}`, async () => {
    for (const target of targets) await target.clear()
    const orgs = ['org-1', 'org-5', 'org-9']
    if (runtime === 'Node') {
      await bus.create('outhook')
      await source
        .sql`select outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`
      for (const org of orgs) await source.sql.unsafe(await endpointOf(bus, org))
    }
    const [id] = await source.sql`
      select outbox.publish_many((
        select jsonb_agg(jsonb_build_object('type', 'order.paid', 'org_id', o, 'partition_key', 'k ä%' || o,
          'body', format('{"id": %s, "total": 1.10}', n)) order by n)
        from generate_series(1, 20) n, unnest(${orgs}::text[]) o)) ->> 0 as first`
    const worker = startWorker(source.url)
    await user.write('routes.json', '{ "org-9": "eu-2" }')
    const node = runtime === 'Node' ? [await nodeCommand()] : deno
    await using program = consumeBy('into-command', node)
    const count = async (): Promise<number> =>
      (await Promise.all(targets.map((target) => target.events()))).flat().length
    const isThere = await waitUntil(async () => await count() === 60, { timeoutMs: patienceMs })
    worker.kill('SIGTERM')
    await worker.ended
    program.stop()
    expect([isThere, await program.ended]).toEqual([true, 0])
    const names = ['eu-1', 'eu-2']
    const routes = { names, entries: new Map([['org-9', ['eu-2']]]) }
    const totals: Record<string, unknown> = {}
    for (const target of targets) {
      const events = await target.events()
      totals[target.name] = { taken: events.length, known: 0, dead: 0 }
      for (const org of orgs) {
        const own = databasesOf(routes, org)[0] === target.name
        expect(events.filter((event) => event.org === org).map(({ n }) => n))
          .toEqual(own ? Array.from({ length: 20 }, (_, n) => n + 1) : [])
      }
      for (const { org, key } of events) expect(key).toBe(`k ä%${org}`)
    }
    expect(JSON.parse(program.lines.findLast((line) => line.startsWith('{"eu-1"')) ?? ''))
      .toEqual(totals)
    const sources = (await Promise.all(targets.map((target) => target.events()))).flat()
    expect(sources.map((event) => event.source)).toContain(id?.first)
  })
}

Deno.test('the commands of the page read the health, the dead letters and an event of all databases', async () => {
  const [event] = await source.sql`
    select e.id from outbox.event e where e.type = 'order.paid' order by e.id desc limit 1`
  const env = {
    OUTHOOK_INTO_SOURCE: source.url,
    OUTHOOK_INTO_EU_1: targets[0].url,
    OUTHOOK_INTO_EU_2: targets[1].url,
  }
  const node = await nodeCommand()
  const ended: [code: number, lines: string[]][] = []
  for (const line of docsBlock('across-command').split('\n')) {
    if (!line.startsWith('npx ')) continue
    const args = line.replace('npx --no outhook ', '').replace('<event id>', event?.id).split(' ')
    await using program = startProgram([node, script(), ...args], user.path, env)
    ended.push([await program.ended, program.lines])
  }
  const [health, letters, search] = ended
  // No worker runs now.
  expect([health?.[0], letters, search?.[0]]).toEqual([5, [0, ['There are none']], 0])
  expect(health?.[1].slice(1, 4).map((line) => line.split(' ')[0]))
    .toEqual(['source', 'eu-1', 'eu-2'])
  expect(search?.[1].slice(1).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['source', 'id'],
    [expect.stringMatching(/^eu-[12]$/), 'idempotency key'],
  ])
})

Deno.test('with the routes of the page, both databases of one organisation take all its events', async () => {
  for (const target of targets) await target.clear()
  await user.write('routes.json', docsBlock('spread-routes'))
  await bus.send('outhook', carriedMessages(40, 'spread'))
  const [first, second] = targets
  await using program = consumeBy('spread-consume', [await nodeCommand()])
  const isThere = await waitUntil(
    async () => (await first.events()).length >= 40 && (await second.events()).length >= 4,
    { timeoutMs: patienceMs },
  )
  program.stop()
  expect([isThere, await program.ended]).toEqual([true, 0])
  expect((await second.events()).map(({ n }) => n)).toEqual([1, 11, 21, 31])
  const own = (await first.events()).filter(({ org }) => org === 'org-1')
  expect(own.map(({ n }) => n)).toEqual([1, 11, 21, 31])
})

Deno.test('outhook consume names what is wrong with its options, without a secret', async () => {
  await user.write('wrong.json', '{ "org-9": "eu-7" }')
  const secret = 'postgresql://postgres:sec%ret@h/p'
  const rows: [args: string[], says: RegExp][] = [
    [['--into', 'eu-1'], /Set either --topic \(Kafka\) or --queue \(RabbitMQ\)/],
    [['--queue', 'q'], /Give at least one --into/],
    [['--queue', 'q', '--into', 'eu-1'], /OUTHOOK_INTO_EU_1 is not set/],
    [['--queue', 'q', '--into', `eu-1=${secret}`], /--into eu-1 is not a URL/],
    [['--queue', 'q', '--into', 'eu-2', '--batch', '0'], /whole number from 1 to 1000/],
    [['--queue', 'q', '--into', 'eu-2', '--dlq', 'q'], /--dlq is the source/],
    [['--queue', 'q', '--into', 'eu-2', '--consumer', 'a b'], /--consumer must be 1 to 64/],
    [
      ['--queue', 'q', '--into', 'eu-2', '--routes', 'wrong.json'],
      /--routes wrong\.json has no database/,
    ],
    [['--queue', 'q', '--into', 'eu-2', '--routes', 'none.json'], /none\.json/],
    [['--queue', 'q', '--into', 'eu-2'], /OUTHOOK_RABBITMQ_URL is not set/],
    [['--topic', 't', '--into', 'eu-2'], /OUTHOOK_KAFKA_BROKERS is not set/],
  ]
  const node = await nodeCommand()
  for (const [args, says] of rows) {
    await using program = startProgram([node, script(), 'consume', ...args], user.path, {
      OUTHOOK_INTO_EU_2: 'postgresql://postgres@127.0.0.1:1/postgres',
    })
    expect([args, await program.ended]).toEqual([args, 2])
    expect(program.lines.join('\n')).toMatch(says)
    expect(program.lines.join('\n')).not.toContain('sec%ret')
  }
})
