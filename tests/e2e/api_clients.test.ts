/** The clients that the page on the API shows, each run as a user would run it. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docsBlock } from '../project/_docs.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { typeFlags } from '../../package/build/client_types.ts'
import { npmTools } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'

const folder = testFolder()
let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api'] })
  await Deno.mkdir(folder, { recursive: true })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await Deno.remove(folder, { recursive: true })
})

/** Runs a command in the folder with the stack's URL and key, and gives what it printed. */
async function run(command: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd: folder,
    env: {
      API_URL: outhook.stack.apiUrl,
      SECRET_KEY: outhook.stack.keys.secretKey,
      NO_COLOR: '1',
    },
  }).output()
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim()
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${text(stderr)}`)
  return text(stdout)
}

async function runBlock(name: string): Promise<string> {
  await Deno.writeTextFile(join(folder, name), docsBlock(name))
  const check = Deno.env.get('OUTHOOK_TESTS') === 'short' ? [] : ['--check']
  return await run(Deno.execPath(), ['run', '-A', ...check, '--no-lock', '--cached-only', name])
}

const uuid = /[0-9a-f]{8}-[0-9a-f-]{27}/

Deno.test('curl of the page makes an endpoint, and an event under one id for one key', async () => {
  const endpoint = JSON.parse(await run('sh', ['-c', docsBlock('api-endpoint')]))
  expect(endpoint).toMatchObject({ url: 'https://example.com/webhooks', eventTypes: ['order.*'] })
  expect(endpoint.secret).toMatch(/^whsec_/)
  const portal = JSON.parse(await run('sh', ['-c', docsBlock('api-portal')]))
  expect(portal).toMatchObject({ orgId: 'org-123', scopes: ['deliveries:read', 'endpoints:read'] })
  const retry = JSON.parse(await run('sh', ['-c', docsBlock('api-retry')]))
  expect(retry.schedule).toHaveLength(3)
  const { id } = JSON.parse(await run('sh', ['-c', docsBlock('api-event')]))
  expect(JSON.parse(await run('sh', ['-c', docsBlock('api-event')]))).toEqual({
    id,
    duplicate: true,
  })
  const [event] = await outhook.sql`select org_id, body from outbox.event where id = ${id}`
  expect(event).toEqual({ org_id: 'org-123', body: '{"id": 7, "total": 1.10}' })
})

Deno.test('supabase-js as on the page publishes an event that arrives', async () => {
  const hook = `/hooks/${crypto.randomUUID()}`
  await outhook.createEndpoint(hook, { p_event_types: ['order.paid'] })
  const id = await runBlock('api-supabase.ts')
  expect(id).toMatch(uuid)
  const [request] = await outhook.requestsOf(id, 1)
  expect(request?.headers['idempotency-key']).toBe('order-8-paid')
})

Deno.test('a client made from openapi.json as on the page publishes and reads an event', async () => {
  const description = join(projectRoot, 'functions/api/openapi.json')
  // The page's npx fetches the same version; a test fetches nothing.
  const [name, version] = npmTools.typescriptClient
  const page = await Deno.readTextFile(join(projectRoot, 'docs/api.md'))
  for (const part of [`${name}@${version}`, ...typeFlags]) expect(page).toContain(part)
  const programs = await ensureTool(projectRoot, name, version)
  await run(join(programs, name), [description, ...typeFlags, '-o', 'outhook.d.ts'])
  const printed = await runBlock('api-client.ts')
  expect(printed).toMatch(new RegExp(`^${uuid.source} \\d+$`))
  const [id = ''] = printed.split(' ')
  const get = docsBlock('api-get').replace('<event id>', id)
  expect(JSON.parse(await run('sh', ['-c', get]))).toMatchObject({ id, type: 'order.paid' })
})
