/** `outhook console` of the packed command, with the page, under Node.js. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startUpstream, type Upstream } from '../console/_support/upstream.ts'
import { testFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { builtCommand } from './_support/built.ts'
import { open, statusOf } from './_support/console_link.ts'
import { shopIn } from './_support/shop.ts'

const secretKey = 'sb_secret_of_the_test'
const root = testFolder()
let upstream: Upstream

Deno.test.beforeAll(() => {
  upstream = startUpstream()
})
Deno.test.beforeAll(() => Deno.mkdir(root, { recursive: true }))
Deno.test.afterAll(async () => {
  await upstream.stop()
  await Deno.remove(root, { recursive: true })
})

Deno.test('the packed command serves the page under Node.js until it is ended', async () => {
  const tarball = await builtCommand(root)
  const shop = await shopIn(root, tarball)
  const { origin } = new URL(upstream.url)
  const child = new Deno.Command(join(shop.path, 'node_modules/.bin/outhook'), {
    args: ['console', '--url', origin, '--port', '0', '--no-open'],
    cwd: shop.path,
    env: { SUPABASE_SECRET_KEY: secretKey, NO_COLOR: '1' },
    stdin: 'null',
    stdout: 'piped',
    stderr: 'inherit',
  }).spawn()
  let said = ''
  const reading = (async (): Promise<void> => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) said += part
  })()
  try {
    const link = (): string => /http:\S+#token=\S+/.exec(said)?.[0] ?? ''
    await waitUntil(() => link() !== '', { timeoutMs: patienceMs })
    const { origin: address } = new URL(link())
    const document = await (await fetch(`${address}/`)).text()
    const [, script = ''] = /src="([^"]+\.js)"/.exec(document) ?? []
    const loaded = await fetch(address + script)
    expect([loaded.status, loaded.headers.get('content-type')])
      .toEqual([200, 'text/javascript; charset=utf-8'])
    expect((await loaded.text()).includes(secretKey)).toBe(false)
    const cookie = await open(link())
    expect(await statusOf(`${address}/api/v1/events`, { headers: { cookie } })).toBe(200)
    expect(upstream.requests.at(-1)?.headers.get('apikey')).toBe(secretKey)
    expect(said).not.toContain(secretKey)
  } finally {
    child.kill('SIGTERM')
    await reading
  }
  expect((await child.status).code).toBe(0)
})
