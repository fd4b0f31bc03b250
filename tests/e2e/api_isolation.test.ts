/**
 * Every operation of the API, called with another organisation's thing at each place that can name one, with
 * too low a role, and without credentials. The operations and their parameters are those of the description,
 * so a new one fails here until its call is written in isolation/calls.ts.
 */

import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { makeTenants, type Tenants, victim, visitor } from '../_support/tenants.ts'
import { allScopes } from '../../functions/api/auth/scopes.ts'
import { signPortalToken } from '../../functions/api/auth/portal.ts'
import { calls, plain } from './isolation/calls.ts'
import { memberNames, type Operation, operations, type Shot, shotsOf } from './isolation/walk.ts'

/** What anybody may call: WhatsApp signs, or names a token. */
const open = ['receiveWhatsappCallback', 'verifyWhatsappCallback']
/** An app of Meta is the operator's, and a consumer the application's: both need a secret key. */
const operators = ['getWhatsappApp', 'putWhatsappApp', 'listConsumers', 'listRuns']
const portalScopes = allScopes.filter((scope) => scope !== 'portal-tokens:write')

let api: TestApi
let tenants: Tenants
let all: Operation[]
let schemas: ReturnType<typeof operations>['schemas']

Deno.test.beforeAll(async () => {
  // The walk stops the jobs of pg_cron: replay jobs stay as they are made.
  api = await startApi({ cronAlone: true })
  tenants = await makeTenants(api.outhook, projectRoot)
  // Each call of the walk that makes a job leaves one.
  await api.outhook.sql`select outbox.set_setting('limit.replay_jobs', '100')`
  const described = operations(api.app)
  all = described.all.filter(({ isOpen }) => !isOpen)
  schemas = described.schemas
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

function shots(operation: Operation, me: string = visitor): Shot[] {
  return (calls[operation.operationId] ?? []).flatMap((call) =>
    shotsOf(operation, call, tenants, me)
  )
}

async function send(
  { operation, path, headers, body }: Shot,
  credentials: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const response = await api.app.request(path, {
    method: operation.method,
    headers: { 'content-type': 'application/json', ...headers, ...credentials },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, text: await response.text() }
}

async function userOf(
  org: string,
  scopes: readonly string[] = ['all'],
): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await api.token(org, scopes)}` }
}

/** The texts in a response that occur only in the victim's rows, without those of the request. */
function leaks(text: string, { given }: Shot, marks: Set<string>): string[] {
  const found = text.match(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|victims|org-victim|whsec_[\w+/=]+|\+?12025550102/g,
  ) ?? []
  return [...new Set(found)].filter((one) =>
    marks.has(one) && !given.some((value) => value.includes(one))
  )
}

/** A path whose query has this value, instead of one that it may have. */
function withParameter(path: string, name: string, value: string): string {
  const [before = '', query] = path.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${before}?${parameters}`
}

function isForPortal({ scope }: Operation): boolean {
  return scope === 'any' || portalScopes.some((one) => one === scope)
}

function told({ operation, foreign, path }: Shot, status: number, text: string): string {
  return `${operation.operationId} ${path} (${foreign.join(', ')}): ${status} ${text.slice(0, 300)}`
}

Deno.test('every operation has a call, with a word for each parameter that names an object', () => {
  const wrong: string[] = []
  for (const { operationId, parameters, body } of all) {
    const those = calls[operationId]
    if (those === undefined) {
      wrong.push(`${operationId} has no call`)
      continue
    }
    const named = (place: string): string[] =>
      parameters.filter((one) => one.in === place).map(({ name }) => name)
    for (const name of [...named('query'), ...named('header')]) {
      const isThere = those.some(({ query = {}, headers = {} }) =>
        /\{/.test(query[name] ?? headers[name] ?? '')
      )
      const values = parameters.find((one) => one.name === name)?.schema.enum
      if (!isThere && !plain.has(name) && values === undefined) wrong.push(`${operationId} ${name}`)
    }
    const sent = those.map((call) => JSON.stringify(call.body ?? {}))
    for (const name of memberNames(body ?? {}, schemas, plain)) {
      const isThere = sent.some((text) => new RegExp(`"${name}":(\\[|"[^"]*\\{)`).test(text))
      if (!isThere) wrong.push(`${operationId} body ${name}`)
    }
  }
  expect(wrong).toEqual([])
  const ids = all.map(({ operationId }) => operationId)
  expect(Object.keys(calls).filter((one) => !ids.includes(one))).toEqual([])
  expect(all.length).toBeGreaterThan(60)
})

Deno.test("no operation shows or changes another organisation's object", async (t) => {
  // The victim's own requests, whose keys the others will use again.
  for (const shot of all.flatMap((operation) => shots(operation, victim))) {
    if (shot.foreign.length > 0 || !('idempotency-key' in shot.headers)) continue
    const { status, text } = await send(shot, await userOf(victim))
    if (status >= 300) throw new Error(told(shot, status, text))
  }
  const before = await tenants.belongings(victim)
  const marks = await tenants.marks()
  expect(marks.size).toBeGreaterThan(80)
  const portal = await signPortalToken({
    orgId: visitor,
    scopes: portalScopes,
    generation: 0,
    limits: null,
    subject: 'theirs',
    id: crypto.randomUUID(),
    issuedAt: Math.floor(Date.now() / 1000),
    lifeSeconds: 600,
  }, api.outhook.stack.keys.portalSecret)
  const later: (() => Promise<void>)[] = []
  const callers: Record<string, Record<string, string>> = {
    'a user': await userOf(visitor),
    'a portal token': { authorization: `Bearer ${portal}` },
    'the secret key': { apikey: api.outhook.stack.keys.secretKey, 'x-org-id': visitor },
  }

  async function walk(
    those: Shot[],
    credentials: Record<string, string>,
    expected: (shot: Shot) => number,
  ): Promise<void> {
    const wrong: string[] = []
    for (const shot of those) {
      const { status, text } = await send(shot, credentials)
      const said = leaks(text, shot, marks)
      if (status !== expected(shot) || said.length > 0) {
        wrong.push(`${said.join(' ')} ${told(shot, status, text)}`)
      }
      // A refusal has rolled back whatever was done before it.
      const mayWrite = shot.operation.method !== 'GET' && status < 300
      if (mayWrite && await tenants.belongings(victim) !== before) {
        throw new Error(`changed by ${told(shot, status, text)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(await tenants.belongings(victim)).toBe(before)
  }
  const every = all.flatMap((operation) => shots(operation))
  const reads = every.filter(({ operation }) => operation.method === 'GET')
  const writes = every.filter(({ operation }) => operation.method !== 'GET')
  const isForeign = ({ foreign }: Shot): boolean => foreign.length > 0
  expect(reads.filter(isForeign).length).toBeGreaterThan(40)
  expect(writes.filter(isForeign).length).toBeGreaterThan(60)

  // Read everything before the first write, so that a found text must be the victim's.
  for (const [caller, credentials] of Object.entries(callers)) {
    const isKey = caller === 'the secret key'
    await t.step(`${caller} of the one reads nothing of the other's`, async () => {
      const those = reads.filter(({ operation }) =>
        !isKey || !operators.includes(operation.operationId)
      )
      await walk(
        those,
        credentials,
        ({ operation, expected }) =>
          caller === 'a portal token' && !isForPortal(operation) ? 403 : expected,
      )
    })
  }

  await t.step('each value that a list filters by shows what is the own alone', async () => {
    const those = reads.filter((shot) => !isForeign(shot)).flatMap((shot) =>
      shot.operation.parameters.flatMap(({ name, schema }) =>
        (schema.enum ?? []).map((value) => ({
          ...shot,
          path: withParameter(shot.path, name, String(value)),
          given: [],
        }))
      )
    )
    expect(those.length).toBeGreaterThan(20)
    await walk(those, callers['a user'] ?? {}, () => 200)
  })

  await t.step(
    'no token is heard for the organisation in X-Org-Id that is not its own',
    async () => {
      await walk(every, { ...callers['a user'], 'x-org-id': victim }, () => 403)
    },
  )

  for (const [caller, credentials] of Object.entries(callers)) {
    const isKey = caller === 'the secret key'
    await t.step(`${caller} of the one writes nothing of the other's`, async () => {
      const expected = ({ operation, expected, withKey }: Shot): number =>
        isKey ? withKey : caller === 'a portal token' && !isForPortal(operation) ? 403 : expected
      const those = writes.filter((shot) =>
        isForeign(shot) && !(isKey && operators.includes(shot.operation.operationId)) &&
        // Objects with the victim's names are created only once.
        (caller === 'a user' || shot.expected >= 300)
      )
      // Refused calls first, so that no object is found because it has just been created.
      await walk(those.filter((shot) => expected(shot) >= 300), credentials, expected)
      if (caller === 'a portal token') return
      const made = those.filter((shot) => expected(shot) < 300)
      if (isKey) await walk(made, credentials, expected)
      else later.push(() => walk(made, credentials, expected))
    })
  }
  await t.step("what is made under the other's names and keys is the own", async () => {
    for (const make of later) await make()
  })

  await t.step('with the own things, each call does what it is for', async () => {
    // In the order of calls.ts, for some of them end what others need.
    const those = Object.keys(calls).flatMap((operationId) =>
      writes.filter((shot) => shot.operation.operationId === operationId && !isForeign(shot))
    )
    for (const shot of those) {
      // The scope that the operation names is enough.
      const { scope } = shot.operation
      await walk(
        [shot],
        await userOf(
          visitor,
          scope === 'secret key' ? [] : [scope === 'any' ? 'events:read' : scope],
        ),
        (one) => one.expected,
      )
    }
  })
})

Deno.test('the routes that anybody may call are those of callbacks', () => {
  const found = operations(api.app).all.filter(({ isOpen }) => isOpen)
  expect(found.map(({ operationId }) => operationId).sort()).toEqual(open)
})

Deno.test('every list is empty for an organisation that has nothing', async () => {
  const wrong: string[] = []
  for (const operation of all) {
    if (operation.method !== 'GET' || operation.path.includes('{')) continue
    if (operators.includes(operation.operationId)) continue
    const [shot] = shots(operation)
    if (shot === undefined) continue
    const { status, text } = await send(shot, await userOf('org-nobody'))
    if (status !== 200 || /org-(visitor|victim)|visitors|victims/.test(text)) {
      wrong.push(told(shot, status, text))
    }
  }
  expect(wrong).toEqual([])
})

Deno.test('every operation names a scope that exists, and each scope is of an operation', () => {
  const named = new Set(all.map(({ scope }) => scope))
  expect([...named].sort()).toEqual([...allScopes, 'any', 'secret key'].sort())
})

Deno.test('no other scope replaces the one that an operation names', async () => {
  const wrong: string[] = []
  for (const operation of all.filter(({ scope }) => scope !== 'any')) {
    for (const shot of shots(operation).slice(0, 1)) {
      const others = allScopes.filter((scope) => scope !== operation.scope)
      const { status, text } = await send(shot, await userOf(visitor, others))
      const reason = operation.scope === 'secret key'
        ? 'with a secret key only'
        : `The token does not have the scope ${operation.scope}`
      if (status !== 403 || !text.includes(reason)) wrong.push(told(shot, status, text))
    }
  }
  expect(wrong).toEqual([])
})

Deno.test('a user without outhook_scopes may call no operation', async () => {
  const wrong: string[] = []
  for (const shot of all.flatMap((operation) => shots(operation).slice(0, 1))) {
    const { status, text } = await send(shot, await userOf(visitor, []))
    if (status !== 403) wrong.push(told(shot, status, text))
  }
  expect(wrong).toEqual([])
})

Deno.test('every route refuses a request without credentials', async () => {
  for (const shot of all.flatMap((operation) => shots(operation).slice(0, 1))) {
    const { status, text } = await send(shot, {})
    expect([shot.path, status, JSON.parse(text).code]).toEqual([shot.path, 401, 'unauthenticated'])
  }
})
