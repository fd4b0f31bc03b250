import { expect } from '@std/expect'
import { callbackDatabase } from '../../../../../functions/_shared/messages/callbacks/database.ts'
import type { FunctionReply } from '../../../../../functions/_shared/database/functions.ts'

type Called = { name: string; args: unknown }

function over(reply: FunctionReply): {
  database: ReturnType<typeof callbackDatabase>
  called: Called[]
} {
  const called: Called[] = []
  const database = callbackDatabase((name, args) => {
    called.push({ name, args })
    return Promise.resolve(reply)
  })
  return { database, called }
}

const counts = { stored: 2, duplicates: 1, applied: 1, skipped: 1, kept: 0 }

Deno.test('findApp() finds by key, or the app of the shared address', async () => {
  const app = { id: '7', secrets: ['a', 'b'], allow_unsigned: true }
  const { database, called } = over({ ok: true, data: { app } })
  expect(await database.findApp('k'))
    .toEqual({ ok: true, app: { id: '7', secrets: ['a', 'b'], allowUnsigned: true } })
  await database.findApp(null)
  expect(called).toEqual([
    { name: 'callback_app', args: { p_app_key: 'k' } },
    { name: 'callback_app', args: {} },
  ])
  expect(await over({ ok: true, data: { app: null } }).database.findApp('k'))
    .toEqual({ ok: true, app: null })
})

Deno.test('store() names an organisation only where one was named, and counts the warnings', async () => {
  const { database, called } = over({ ok: true, data: { ...counts, warnings: ['one', 'two'] } })
  expect(await database.store({ appId: '7', orgId: null, updates: [] }))
    .toEqual({ ok: true, counts, warnings: 2 })
  await database.store({ appId: '7', orgId: 'org-1', updates: [] })
  expect(called.map(({ args }) => args)).toEqual([
    { p_app_id: '7', p_updates: [] },
    { p_app_id: '7', p_updates: [], p_org_id: 'org-1' },
  ])
})

Deno.test('an error of the database is reported by its codes, because its text may quote the callback', async () => {
  const error = { code: '22P02', message: 'wamid.X', details: '+1202', hint: 'wamid.X' }
  const refused = over({ ok: false, status: 400, error })
  expect(await refused.database.store({ appId: '7', orgId: null, updates: [] }))
    .toEqual({ ok: false, error: 'outbox.receive_callbacks fails with 400 22P02' })
  const odd = over({ ok: true, data: { app: { id: '7', secrets: 'wamid.X' } } })
  expect(await odd.database.findApp('k')).toEqual({
    ok: false,
    error: expect.stringMatching(
      /^Cannot read the result of outbox.callback_app at app.secrets;/,
    ),
  })
})

Deno.test('the error for a function that the database lacks has a remedy', async () => {
  const error = { code: 'PGRST202', message: 'wamid.X', details: null, hint: null }
  const { database } = over({ ok: false, status: 404, error })
  const remedy = 'add supabase/migrations/20260101000006_outhook_messages.sql, or run outhook ' +
    'init --modules messages, and push the migrations; if it is there, the functions and the ' +
    'database have different versions: push the migrations and deploy the functions of the same ' +
    'version'
  expect(await database.findApp('k')).toEqual({
    ok: false,
    error: 'outbox.callback_app fails with 404 PGRST202: The module messages is not installed; ' +
      remedy,
    missing: { module: 'messages', problem: 'The module messages is not installed', remedy },
  })
})

Deno.test('the error for a function with other parameters says that the versions differ', async () => {
  const hint = 'Perhaps you meant to call the function outbox.callback_app(p_key)'
  const error = { code: 'PGRST202', message: 'wamid.X', details: null, hint }
  const { database } = over({ ok: false, status: 404, error })
  expect(await database.findApp('k')).toEqual({
    ok: false,
    error: 'outbox.callback_app fails with 404 PGRST202; the functions and the database have ' +
      'different versions: push the migrations and deploy the functions of the same version',
  })
})
