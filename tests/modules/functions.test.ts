/** The functions on the core alone: each says which module it needs, and which migration to add. */

import { expect } from '@std/expect'
import { readFunctionConfigs } from '../../supabase/local/functions/mod.ts'
import { migrationPath, readModule } from '../../supabase/local/schema/migration.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import {
  kindNotInstalled,
  missingModule,
  moduleOf,
  notInstalled,
} from '../../functions/_shared/database/modules.ts'
import { listFiles } from '../_run/files.ts'
import { databaseFolder } from '../_support/folder.ts'
import { withMigrations } from '../_support/postgres.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { copyProject } from '../_support/project_copy.ts'
import { modules } from './_support/modules.ts'

Deno.test('moduleOf() knows the module of each SQL function that the functions call', async () => {
  const owners = new Map<string, string>()
  for (const module of modules) {
    for (const { text } of await readModule(projectRoot, module)) {
      for (const [, name = ''] of text.matchAll(/^create function outbox\.(\w+)/gm)) {
        owners.set(name, module.name)
      }
    }
  }
  const calls = new Set<string>()
  const files = [
    ...await listFiles(projectRoot, 'functions', '.ts'),
    ...await listFiles(projectRoot, 'consumer', '.ts'),
  ]
  for (const file of files) {
    const text = await Deno.readTextFile(`${projectRoot}/${file}`)
    const named = /\b(?:call|callFunction|rpc)\(\s*'(\w+)'|`\s*select (?:\* from )?outbox\.(\w+)\(/g
    for (const [, byName, bySql] of text.matchAll(named)) calls.add(byName ?? bySql ?? '')
  }
  // What example-consumer calls is a function of the application's own.
  calls.delete('receive_event')
  expect(calls.size).toBeGreaterThan(50)
  const expected = [...calls].map((name) => [name, owners.get(name)])
  expect([...calls].map((name) => [name, moduleOf(name) ?? 'core'])).toEqual(expected)
})

Deno.test('notInstalled() names the migration of the module', () => {
  for (const [at, { name, paths }] of modules.entries()) {
    const migration = migrationPath(at, name)
    const one = {
      api: 'get_event',
      sagas: 'execute_org_saga',
      inbox: 'consume',
      messages: 'get_message',
    }
    // SAFETY: a name that is no key gives undefined, which the next line skips.
    const called = (one as Record<string, string | undefined>)[name]
    if (called === undefined) continue
    expect(paths.length).toBeGreaterThan(0)
    expect(notInstalled(called)).toMatchObject({
      module: name,
      problem: `The module ${name} is not installed`,
      remedy: expect.stringContaining(
        `add ${migration}, or run outhook init --modules ${name}, and push`,
      ),
    })
  }
  expect(notInstalled('publish')).toBe(null)
})

Deno.test('missingModule() is null if the function exists with other parameters', () => {
  const error = { code: 'PGRST202', hint: null }
  expect(missingModule('get_event', error)).toMatchObject({ module: 'api' })
  const hint = 'Perhaps you meant to call the function outbox.get_event(p_event_id)'
  expect(missingModule('get_event', { ...error, hint })).toBe(null)
  const other = 'Perhaps you meant to call the function outbox.gain'
  expect(missingModule('get_event', { ...error, hint: other })).toMatchObject({ module: 'api' })
  expect(missingModule('get_event', { code: '57014', hint: null })).toBe(null)
  expect(missingModule('dispatch', error)).toBe(null)
})

Deno.test('kindNotInstalled() knows the module of each kind that the API creates', async () => {
  const kinds = await withMigrations(async (pg) => {
    const { stdout } = await pg.psql(
      `select kind from outbox.endpoint_kind where create_function is not null order by 1;`,
    )
    return stdout.trim().split('\n')
  })
  expect(kinds.map((kind) => [kind, kindNotInstalled(kind)?.module ?? 'core'])).toEqual([
    ['kafka', 'brokers'],
    ['rabbitmq', 'brokers'],
    ['slack', 'brokers'],
  ])
  expect(kindNotInstalled('webhook')).toBe(null)
})

/** A stack with the core and `chosen` modules, and these functions. */
async function withStack(
  chosen: readonly string[],
  use: (stack: Stack, log: string[]) => Promise<void>,
): Promise<void> {
  await using project = await copyProject()
  for (const [at, { name }] of modules.entries()) {
    if (at > 0 && !chosen.includes(name)) {
      await Deno.remove(`${project.root}/${migrationPath(at, name)}`)
    }
  }
  const dataDir = databaseFolder()
  await copyPrepared(dataDir, 'platform')
  const log: string[] = []
  const functions = (await readFunctionConfigs(project.root))
    .filter(({ name }) => ['api', 'whatsapp', 'metrics'].includes(name))
  const stack = await startStack({
    projectDir: project.root,
    dataDir,
    ports: 'free',
    fsync: false,
    functions,
    log: (line) => log.push(line),
  })
  try {
    await use(stack, log)
  } finally {
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

async function get(
  stack: Stack,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${stack.apiUrl}/functions/v1/${path}`, init)
  const text = await response.text()
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

const missing = (module: string, migration: string): unknown => ({
  status: 501,
  body: expect.objectContaining({
    code: 'module_missing',
    detail: expect.stringContaining(`The module ${module} is not installed`),
    ...migration === ''
      ? {}
      : { remedy: expect.stringContaining(`supabase/migrations/${migration}`) },
  }),
})

Deno.test('on the core alone api and whatsapp name the missing module, and metrics works', async (t) => {
  await withStack([], async (stack, log) => {
    const apikey = { apikey: stack.keys.secretKey }
    await t.step('api', async () => {
      expect(await get(stack, 'api/v1/events', { headers: { ...apikey, 'x-org-id': 'o' } }))
        .toEqual(missing('api', '20260101000001_outhook_api.sql'))
      const lines = log.filter((line) => line.includes('The module api is not installed'))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain('supabase/migrations/20260101000001_outhook_api.sql')
    })
    await t.step('whatsapp', async () => {
      const { status, body } = await get(stack, 'whatsapp/inbound/a1b2c3d4e5f60718', {
        method: 'POST',
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body: '{}',
      })
      expect({ status, body }).toEqual(missing('messages', ''))
      expect(JSON.stringify(body)).toContain('20260101000006_outhook_messages.sql')
      expect(log.filter((line) => line.includes('The module messages is not installed')))
        .toHaveLength(1)
    })
    await t.step('metrics', async () => {
      const authorization = `Bearer ${stack.keys.metricsToken}`
      expect(await get(stack, 'metrics', { headers: { authorization } })).toMatchObject({
        status: 200,
        body: expect.stringContaining('outhook_'),
      })
    })
  })
})

Deno.test('with api alone, routes of messages and sagas name their module', async (t) => {
  await withStack(['api'], async (stack) => {
    const headers = { apikey: stack.keys.secretKey, 'x-org-id': 'o' }
    await t.step('api', async () => {
      expect((await get(stack, 'api/v1/events', { headers })).status).toBe(200)
    })
    await t.step('messages', async () => {
      const { status, body } = await get(stack, 'api/v1/outbound/messages', { headers })
      expect({ status, body }).toEqual(missing('messages', '20260101000006_outhook_messages.sql'))
    })
    await t.step('sagas', async () => {
      const { status, body } = await get(stack, 'api/v1/sagas/order', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"context": {}}',
      })
      expect({ status, body }).toEqual(missing('sagas', '20260101000002_outhook_sagas.sql'))
    })
    await t.step('brokers', async () => {
      const { status, body } = await get(stack, 'api/v1/endpoints', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          kind: 'slack',
          url: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
        }),
      })
      expect({ status, body }).toEqual(missing('brokers', '20260101000005_outhook_brokers.sql'))
    })
  })
})
