/** `outhook consume`, packed and installed: from a database over a real RabbitMQ into two others. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { databaseOf } from '../../consumer/into/routes.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { nodeCommand } from '../_support/node.ts'
import { patienceMs } from '../_support/patience.ts'
import { startWorker } from '../_support/worker_process.ts'
import type { Bus } from '../consumer/_support/bus.ts'
import { startRabbitMqBus } from '../consumer/_support/rabbitmq_bus.ts'
import { startTarget, type Target } from '../consumer/_support/targets.ts'
import { docsBlock } from '../project/_docs.ts'
import { startProgram } from './_support/program.ts'
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

/** The statement of the page for one organisation and the broker of the test. */
async function endpointOf(org: string): Promise<string> {
  const url = new URL(bus.env.OUTHOOK_RABBITMQ_URL ?? '')
  const login = {
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
  const broker = {
    url: `amqps://${url.host}${url.pathname}`,
    ca: await Deno.readTextFile(bus.env.OUTHOOK_RABBITMQ_CA ?? ''),
    exchange: '',
    routing_key: 'outhook',
  }
  const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'`
  const page = docsBlock('into-endpoint')
  const own = page.replace(/'\{"url": [^']*'/, () => quoted(broker))
    .replace(/'\{"username": [^']*'/, () => quoted(login)).replace('org-7', org)
  expect(own).not.toContain('example.com')
  return own
}

for (const runtime of ['Node', 'Deno'] as const) {
  Deno.test(`the commands of the page carry events from a database into two others, under ${runtime}`, async () => {
    for (const target of targets) await target.clear()
    const orgs = ['org-1', 'org-5', 'org-9']
    if (runtime === 'Node') {
      await bus.create('outhook')
      await source
        .sql`select outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128"]')`
      for (const org of orgs) await source.sql.unsafe(await endpointOf(org))
    }
    const [id] = await source.sql`
      select outbox.publish_many((
        select jsonb_agg(jsonb_build_object('type', 'order.paid', 'org_id', o, 'partition_key', 'k ä%' || o,
          'body', format('{"id": %s, "total": 1.10}', n)) order by n)
        from generate_series(1, 20) n, unnest(${orgs}::text[]) o)) ->> 0 as first`
    const worker = startWorker(source.url)
    await user.write('routes.json', '{ "org-9": "eu-2" }')
    const command = docsBlock('into-command').split('\n')
      .find((line) => line.startsWith('npx --no outhook consume ')) ?? ''
    const node = runtime === 'Node' ? [await nodeCommand()] : deno
    const args = command.replace('npx --no outhook ', '').split(' ')
    await using program = startProgram([...node, script(), ...args, '--json'], user.path, {
      ...bus.env,
      OUTHOOK_INTO_EU_1: targets[0].url,
      OUTHOOK_INTO_EU_2: targets[1].url,
    })
    const count = async (): Promise<number> =>
      (await Promise.all(targets.map((target) => target.events()))).flat().length
    const isThere = await waitUntil(async () => await count() === 60, { timeoutMs: patienceMs })
    worker.kill('SIGTERM')
    await worker.ended
    program.stop()
    expect([isThere, await program.ended]).toEqual([true, 0])
    const names = ['eu-1', 'eu-2']
    const routes = { names, entries: new Map([['org-9', 'eu-2']]) }
    const totals: Record<string, unknown> = {}
    for (const target of targets) {
      const events = await target.events()
      totals[target.name] = { taken: events.length, known: 0, dead: 0 }
      for (const org of orgs) {
        const own = databaseOf(routes, org) === target.name
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
