import { expect } from '@std/expect'
import { callbackDatabase } from '../../../../functions/_shared/callbacks/database.ts'
import type { FunctionReply } from '../../../../functions/_shared/database/functions.ts'

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

Deno.test('findApps() asks by key, or by numbers and accounts', async () => {
  const apps = [{ id: '7', secrets: ['a', 'b'], allow_unsigned: true }]
  const { database, called } = over({ ok: true, data: { apps } })
  expect(await database.findApps({ appKey: 'k' }))
    .toEqual({ ok: true, apps: [{ id: '7', secrets: ['a', 'b'], allowUnsigned: true }] })
  await database.findApps({ phoneNumberIds: ['1'], wabaIds: ['2'] })
  expect(called).toEqual([
    { name: 'callback_apps', args: { p_app_key: 'k' } },
    { name: 'callback_apps', args: { p_phone_number_ids: ['1'], p_waba_ids: ['2'] } },
  ])
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

Deno.test('an error of the database is told by its codes, since its words may quote what came', async () => {
  const error = { code: '22P02', message: 'wamid.X', details: '+1202', hint: 'wamid.X' }
  const refused = over({ ok: false, status: 400, error })
  expect(await refused.database.store({ appId: '7', orgId: null, updates: [] }))
    .toEqual({ ok: false, error: 'outbox.receive_callbacks answers 400 22P02' })
  const odd = over({ ok: true, data: { apps: [{ id: '7', secrets: 'wamid.X' }] } })
  expect(await odd.database.findApps({ appKey: 'k' })).toEqual({
    ok: false,
    error: expect.stringMatching(
      /^Cannot read the answer of outbox.callback_apps at apps.0.secrets;/,
    ),
  })
})

Deno.test('a function that the database does not have is told with what to do', async () => {
  const error = { code: 'PGRST202', message: 'wamid.X', details: null, hint: null }
  const { database } = over({ ok: false, status: 404, error })
  expect(await database.findApps({ appKey: 'k' })).toEqual({
    ok: false,
    error: 'outbox.callback_apps answers 404 PGRST202; the functions and the database are of ' +
      'different versions: push the migrations and deploy the functions of one version',
  })
})
