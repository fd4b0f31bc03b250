/** The README's first webhook, word for word but for its ports and keys. */

import { expect } from '@std/expect'
import { freePort } from '../../supabase/local/process/ports.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { readmeBlock } from './_readme.ts'
import { makeReceivers, type RunningReceiver } from './_receivers.ts'

interface Answers {
  created: { id: string; secret: string }
  published: string
  refused: Record<string, unknown>
}

/** Runs the README's shell block against `apiUrl`, and a call that is refused after it. */
async function curl(apiUrl: string, secretKey: string): Promise<Answers> {
  const refused = `\necho; rpc create_endpoint '{"p_url": "example.com"}'`
  const script = readmeBlock('curl').replaceAll('http://127.0.0.1:54321', apiUrl)
    .replace('sb_secret_...', secretKey)
    .replace('rpc publish', 'echo; rpc publish') + refused
  const { code, stdout, stderr } = await new Deno.Command('sh', { args: ['-ec', script] }).output()
  const decoder = new TextDecoder()
  expect([code, decoder.decode(stderr)]).toEqual([0, ''])
  const [created = '', published = '', problem = ''] = decoder.decode(stdout).trim().split(/\n+/)
  return {
    created: JSON.parse(created),
    published: JSON.parse(published),
    refused: JSON.parse(problem),
  }
}

Deno.test("the README's first webhook arrives at each of its receivers", async () => {
  const folder = testFolder()
  await using defer = new AsyncDisposableStack()
  defer.defer(() => Deno.remove(folder, { recursive: true }))
  const stack = await startStack({ dataDir: folder, ports: 'free', fsync: false })
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
    const answer = await query(readmeBlock('create-endpoint').replace('3000', String(port)))
    running.push({ name, ...defer.use(await start({ secret: JSON.parse(answer).secret, port })) })
  }

  await query(readmeBlock('publish'))
  const delivered = (count: number): Promise<boolean> =>
    waitUntil(async () => {
      const done = await query(
        `select count(*) from outbox.delivery_status where status = 'delivered'`,
      )
      return done === String(count)
    }, { timeoutMs: 30_000 })
  expect(await delivered(running.length)).toBe(true)
  const looked = (await query(readmeBlock('look'))).split('\n')
  expect(looked.filter((row) => row.startsWith('order.paid|delivered|'))).toHaveLength(3)
  expect(looked.filter((row) => /\|1\|delivered\|204\|/.test(row))).toHaveLength(3)

  const { created, published, refused } = await curl(stack.apiUrl, stack.keys.secretKey)
  expect(created).toMatchObject({ secret: expect.stringMatching(/^whsec_/) })
  expect(published).toMatch(/^[0-9a-f-]{36}$/)
  expect(refused).toEqual(JSON.parse(readmeBlock('error')))
  expect(await delivered(2 * running.length)).toBe(true)
  const again = await curl(stack.apiUrl, stack.keys.secretKey)
  expect(again.published).toBe(published)

  for (const { name, work } of running) {
    expect([name, await work()]).toEqual([name, { noted: 2, orders: ['1 49.9', '2 12.5'] }])
  }
})
