/** The packed package, installed as a user does, with the programs of the page against a stack. */

import { expect } from '@std/expect'
import { docsBlock } from '../project/_docs.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { type UserFolder, userFolder } from './_support/install.ts'
import { startProgram } from './_support/program.ts'
import { receives } from './_support/receives.ts'

let user: UserFolder
let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  user = await userFolder()
  outhook = await startOuthook({ only: ['deliver', 'api'] })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await user?.[Symbol.asyncDispose]()
})

/** Runs the program that publishes, and returns its lines. */
async function publish(command: string[], env: Record<string, string> = {}): Promise<string[]> {
  await using program = startProgram(command, user.path, {
    API_URL: outhook.stack.apiUrl,
    SECRET_KEY: outhook.stack.keys.secretKey,
    ...env,
  })
  const code = await program.ended
  expect([code, code === 0 ? '' : program.lines.join('\n')]).toEqual([0, ''])
  return program.lines
}

const node = ['node', 'package-publish.mjs']
const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock', '--check']

Deno.test('the program that publishes creates an endpoint, publishes once, and reads all pages', async () => {
  const url = `${outhook.receiver.url}/pages`
  const first = await publish(node, { WEBHOOK_URL: url })
  expect(first).toEqual([
    expect.stringMatching(/^secret whsec_/),
    expect.stringMatching(/^published [0-9a-f-]{36}$/),
    `endpoint ${url}`,
  ])
  const id = first[1]?.split(' ')[1] ?? ''
  const [request] = await outhook.requestsOf(id, 1)
  expect(JSON.parse(new TextDecoder().decode(request?.body)).data).toEqual({ id: 1, total: 49.9 })

  // A page has one endpoint: the second one is on another. The same key publishes nothing new.
  const second = await publish(node, { WEBHOOK_URL: `${url}/2` })
  expect(second.slice(1)).toEqual([
    `already published ${id}`,
    `endpoint ${url}/2`,
    `endpoint ${url}`,
  ])

  // The same program in Deno, without a new endpoint.
  expect(await publish([...deno.slice(0, -1), 'package-publish.mjs']))
    .toEqual(second.slice(1))
})

Deno.test('the program for Deno publishes, and its types are right', async () => {
  const lines = await publish([...deno, 'package-publish-deno.ts'])
  expect(lines.at(-1)).toMatch(/^published [0-9a-f-]{36}$/)
})

Deno.test('the route handler for Next.js publishes, and a repeat publishes nothing', async () => {
  await using server = startProgram(
    ['node', 'serve-route.mjs', 'package-publish-next.mjs'],
    user.path,
    {
      API_URL: outhook.stack.apiUrl,
      SECRET_KEY: outhook.stack.keys.secretKey,
      PORT: '0',
    },
  )
  const [, origin = ''] = await server.find(/Listening on (\S+)/)
  const order = async (): Promise<unknown> => {
    const body = JSON.stringify({ id: 31, total: 5 })
    const response = await fetch(`${origin}/orders`, { method: 'POST', body })
    return [response.status, await response.json()]
  }
  const first = await order()
  expect(first).toEqual([201, { event: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
  expect(await order()).toEqual(first)
})

Deno.test('the program that publishes prints the problem of a refused request', async () => {
  const lines = await publish(node, { SECRET_KEY: 'sb_secret_wrong' })
  expect(lines).toEqual([expect.stringMatching(/^401 unauthenticated: /)])
})

Deno.test('the receiver for Node.js handles an event', async () => {
  expect(await receives({ user, outhook }, ['node', 'package-node.mjs'], 'node')).toBe(2)
})

Deno.test('the route handler for Next.js handles an event', async () => {
  const next = ['node', 'serve-route.mjs', 'package-next.mjs']
  expect(await receives({ user, outhook }, next, 'next')).toBe(2)
})

Deno.test('the receiver for Express handles an event', async () => {
  expect(await receives({ user, outhook }, ['node', 'package-express.mjs'], 'express')).toBe(2)
})

Deno.test('the receiver for Deno handles an event, and its types are right', async () => {
  expect(await receives({ user, outhook }, [...deno, 'package-deno.ts'], 'deno')).toBe(2)
})

Deno.test('the receiver with a store handles an event once', async () => {
  await outhook.sql.unsafe(docsBlock('receiver-tables')).simple()
  const env = { DATABASE_URL: outhook.stack.dbUrl }
  expect(await receives({ user, outhook }, ['node', 'package-store.mjs'], 'store', env)).toBe(1)
  const rows = await outhook.sql`select id, total from paid_order where id = 7`
  expect(rows).toEqual([{ id: '7', total: '12.5' }])
})
