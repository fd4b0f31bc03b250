/** The first webhook of the pages, word for word but for its ports and keys. */

import { expect } from '@std/expect'
import { freePort } from '../../supabase/local/process/ports.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { databaseFolder } from '../_support/folder.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { docsBlock, docsTable } from './_docs.ts'
import { makeReceivers, type RunningReceiver } from './_receivers.ts'
import { patienceMs } from '../_support/patience.ts'

interface Answers {
  created: { id: string; secret: string }
  published: string
  refused: Record<string, unknown>
  /** Without the secret key, with a wrong one, without the schema. */
  mistaken: Record<string, unknown>[]
}

/** What goes wrong: a wrong argument; no secret key, a wrong one, no schema, with their status. */
const mistakes = `
rpc create_endpoint '{"p_url": "example.com"}'
publish() {
  curl -sS -w '{"status":%{http_code}}\\n' "$API_URL/rest/v1/rpc/publish" "$@" \\
    -H 'content-type: application/json' -d '{"p_type": "order.paid", "p_payload": {}}'
}
publish -H 'content-profile: outbox'
publish -H 'content-profile: outbox' -H 'apikey: sb_secret_wrong'
publish -H "apikey: $SECRET_KEY"`

/** Runs the pages' shell block against a stack, its endpoint at `port`, and then the mistakes. */
async function curl(
  { apiUrl, secretKey, port }: { apiUrl: string; secretKey: string; port: number },
): Promise<Answers> {
  const script = docsBlock('curl').replaceAll('http://127.0.0.1:54321', apiUrl)
    .replace('3001', String(port)).replace('sb_secret_...', secretKey) + mistakes
  const { code, stdout, stderr } = await new Deno.Command('sh', {
    args: ['-ec', script],
    env: { API_URL: apiUrl },
  }).output()
  const decoder = new TextDecoder()
  expect([code, decoder.decode(stderr)]).toEqual([0, ''])
  const [created = '', published = '', refused = '', ...mistaken] = decoder.decode(stdout).trim()
    .split('\n')
  return {
    created: JSON.parse(created),
    published: JSON.parse(published),
    refused: JSON.parse(refused),
    mistaken: mistaken.map((line) => JSON.parse(line.replace('}{"status"', ',"status"'))),
  }
}

Deno.test("the README's first webhook arrives at each of its receivers", async () => {
  const folder = databaseFolder()
  await using defer = new AsyncDisposableStack()
  defer.defer(() => Deno.remove(folder, { recursive: true }))
  await copyPrepared(folder, 'migrations')
  const stack = await startStack({
    dataDir: folder,
    ports: 'free',
    fsync: false,
    ticksAtOnce: true,
  })
  defer.defer(() => stack.stop())
  const query = async (sql: string): Promise<string> => {
    const { code, stdout, stderr } = await stack.psql(sql)
    if (code !== 0) throw new Error(stderr)
    return stdout
  }

  const receivers = defer.use(await makeReceivers(stack))
  const running: (RunningReceiver & { name: string })[] = []
  for (const { name, start } of receivers.all) {
    const port = freePort()
    const answer = await query(docsBlock('create-endpoint').replace('3000', String(port)))
    running.push({ name, ...defer.use(await start({ secret: JSON.parse(answer).secret, port })) })
  }

  await query(docsBlock('publish'))
  const delivered = (count: number): Promise<boolean> =>
    waitUntil(async () => {
      const done = await query(
        `select count(*) from outbox.delivery_status where status = 'delivered'`,
      )
      return done === String(count)
    }, { timeoutMs: patienceMs }) // a receiver that starts late gets its third retry after 31 s at most
  expect(await delivered(running.length)).toBe(true)
  const rows = async (pattern: RegExp): Promise<string[]> =>
    (await query(docsBlock('look'))).split('\n').filter((row) => pattern.test(row))
  const first = /^http:\/\/127\.0\.0\.1:\d+\/webhooks\|order\.paid\|delivered\|1\|\|[0-9a-f|-]{73}$/
  expect(await rows(first)).toHaveLength(3)
  expect(await rows(/\|http:\S+\/webhooks\|1\|delivered\|204\|/)).toHaveLength(3)

  await query(docsBlock('publish-ways'))
  await query(docsBlock('publish-with-row'))
  expect(await delivered(6 * running.length)).toBe(true)
  for (const { name, work } of running) {
    expect([name, await work()]).toEqual([
      name,
      { noted: 6, orders: ['1 49.9', '3 12.5', '4 7.25', '5 19.75', '6 8.5'] },
    ])
  }

  // The endpoint made over HTTP wants another type, and has a receiver of its own.
  const port = freePort()
  const calls = { apiUrl: stack.apiUrl, secretKey: stack.keys.secretKey, port }
  const { created, published, refused, mistaken } = await curl(calls)
  const second = receivers.all.at(-1)
  if (second === undefined) throw new Error('The pages have no receiver')
  const late = defer.use(await second.start({ secret: created.secret, port }))
  expect(published).toMatch(/^[0-9a-f-]{36}$/)
  expect(await delivered(6 * running.length + 1)).toBe(true)
  expect(await late.work()).toEqual({ noted: 1, orders: [] })
  expect((await curl(calls)).published).toBe(published)

  expect(refused).toEqual(JSON.parse(docsBlock('error')))
  expect(mistaken).toMatchObject([
    { code: '42501', status: 401 },
    { code: '42501', status: 401 },
    { code: 'PGRST202', status: 404 },
  ])
  const meanings = Object.fromEntries(docsTable('docs/errors.md', 'Errors'))
  expect(meanings['42501']).toContain('Status 401')
  expect(meanings.PGRST202).toContain('Status 404')

  // A receiver with another endpoint's secret refuses for good; with its own it gets the event again.
  const wrongPort = freePort()
  const made = JSON.parse(
    await query(docsBlock('create-endpoint').replace('3000', String(wrongPort))),
  )
  const dead = new RegExp(
    `:${wrongPort}/webhooks\\|order\\.paid\\|dead_letter\\|1\\|\\|(.+)\\|(.+)$`,
  )
  const mistakenReceiver = await second.start({ secret: created.secret, port: wrongPort })
  await query(docsBlock('publish'))
  expect(await waitUntil(async () => (await rows(dead)).length === 1, { timeoutMs: patienceMs }))
    .toBe(true)
  expect(await rows(new RegExp(`:${wrongPort}/webhooks\\|1\\|`))).toEqual([
    expect.stringContaining('|1|failed|401|'),
  ])
  await mistakenReceiver[Symbol.asyncDispose]()

  const right = defer.use(await second.start({ secret: made.secret, port: wrongPort }))
  const [, event = '', endpoint = ''] = dead.exec((await rows(dead))[0] ?? '') ?? []
  expect(endpoint).toBe(made.id)
  await query(
    docsBlock('replay').replace('<event_id>', event).replace('<endpoint_id>', endpoint),
  )
  const arrived = async (): Promise<boolean> => (await right.work()).noted === 1
  expect(await waitUntil(arrived, { timeoutMs: patienceMs })).toBe(true)

  await query(`select outbox.delete_endpoint('${endpoint}')`)
  expect(await rows(new RegExp(`:${wrongPort}/`))).toEqual([])
})
