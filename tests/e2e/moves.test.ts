/** The same project on another server, in another database or at another address: nothing stops. */

import { expect } from '@std/expect'
import type { DispatchReply } from '../../functions/_shared/database/dispatch.ts'
import { connectRpc } from '../../functions/_shared/database/rpc.ts'
import { startProxy } from '../_support/brokers/proxy.ts'
import { createFirstTry } from '../_support/first_try.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startPgBouncer } from '../_support/pgbouncer.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { copyTemplate, restoreDump, restoreInPlace } from './copies/copy.ts'
import {
  arrivals,
  end,
  history,
  logged,
  outcomes,
  publish,
  query,
  subscribe,
} from './copies/deliveries.ts'
import { startStandby } from './copies/server.ts'
import { startReceiver } from './receiver/receiver.ts'

const shop = { OUTHOOK_PROJECT: 'https://shop.example.com' }
const undisturbed = { code: 0, refusals: [] }
const bound = 'bound shop.example.com'
const changed = 'database_changed shop.example.com shop.example.com'
/** configure() has bound the stack's database before its first run did. */
const begun = ['bound local', 'bound shop.example.com local']

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ functions: [] })
  await outhook.createEndpoint('/hooks/moves', { p_event_types: ['move.*'] })
  expect(await edgeCall('https://shop.example.com')).toMatchObject({ ok: true })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** One call of an edge run that names this project. */
async function edgeCall(project: string): Promise<DispatchReply> {
  const { apiUrl, keys } = outhook.stack
  return await connectRpc({ url: apiUrl, key: keys.secretKey, project }).dispatch({
    run: crypto.randomUUID(),
    ...{ seq: 1, results: [], limit: 0, kind: 'edge', ended: true, known: {}, held: 0 },
  })
}

Deno.test('a worker keeps running while a standby becomes the primary, and sends nothing twice', async () => {
  const firstTry = createFirstTry()
  const receiver = startReceiver({ also: { held: firstTry.behaviour } })
  const primary = await startTestPostgres({ migrated: true })
  await using standby = await startStandby(primary)
  using address = startProxy(primary.port)
  const worker = startWorker(primary.dbUrl.replace(`:${primary.port}`, `:${address.port}`), shop)
  try {
    for (const word of ['move', 'held']) await subscribe(primary.dbUrl, receiver, word)
    const first = await publish(primary.dbUrl, 'move.first')
    expect(await arrivals(receiver, first, worker)).toEqual([1])
    // One delivery is in flight and three are pending when the primary is lost.
    const letGo = Promise.withResolvers<void>()
    firstTry.act = (): Promise<void> => letGo.promise
    const held = await publish(primary.dbUrl, 'held.lost')
    await receiver.waitFor(2)
    address.down()
    const pending = await publish(primary.dbUrl, 'move.pending', 3)
    await standby.caughtUp()
    await primary.stop()
    letGo.resolve()
    await standby.promote()
    address.moveTo(standby.port)
    address.up()
    expect(await arrivals(receiver, pending, worker)).toEqual([1, 1, 1])
    expect(await outcomes(standby.dbUrl, [...held, ...pending])).toEqual(Array(4).fill('delivered'))
    const later = await publish(standby.dbUrl, 'move.later')
    expect(await arrivals(receiver, [...first, ...held, ...pending, ...later], worker))
      .toEqual(Array(6).fill(1))
    // A promoted standby has the system identifier of its primary, so nothing has changed.
    expect(await history(standby.dbUrl)).toEqual({ changes: [bound], announced: 0, problem: null })
  } finally {
    expect(await end(worker)).toEqual(undisturbed)
    await primary.stop()
    await receiver.close()
  }
})

Deno.test('a worker keeps running while its database is restored in place, and sends what is pending in the backup', async () => {
  await using database = await restoreDump(outhook, 'in_place')
  const worker = startWorker(database.dbUrl, shop)
  try {
    const first = await publish(database.dbUrl, 'move.first')
    expect(await arrivals(outhook.receiver, first, worker)).toEqual([1])
    await outcomes(database.dbUrl, first)
    // The dump was restored into a new database, and is restored into another one now.
    expect(await history(database.dbUrl)).toMatchObject({ changes: [...begun, changed] })
    await query(database.dbUrl, `select outbox.set_setting('worker.enabled', 'false')`)
    const pending = await publish(database.dbUrl, 'move.pending', 3)
    await restoreInPlace(outhook, 'in_place', {
      // The backup does not know of what happens after it.
      lost: async () => void await publish(database.dbUrl, 'move.lost'),
      // A worker that wrote now would take ids that the backup has.
      loaded: () => logged(worker, 'the database is being restored'),
    })
    await query(database.dbUrl, `select outbox.set_setting('worker.enabled', 'true')`)
    expect(await arrivals(outhook.receiver, pending, worker)).toEqual([1, 1, 1])
    expect(await outcomes(database.dbUrl, pending)).toEqual(Array(3).fill('delivered'))
    expect(await arrivals(outhook.receiver, [...first, ...pending], worker)).toEqual([1, 1, 1, 1])
    expect(await history(database.dbUrl)).toEqual({
      changes: [...begun, changed, changed],
      announced: 2,
      problem: null,
    })
  } finally {
    expect(await end(worker)).toEqual(undisturbed)
  }
})

Deno.test('a project delivers from a template copy of its database, and the original from itself', async () => {
  const original = await restoreDump(outhook, 'original')
  const before = startWorker(original.dbUrl, shop)
  const [id = ''] = await publish(original.dbUrl, 'move.original')
  expect(await arrivals(outhook.receiver, [id], before)).toEqual([1])
  await outcomes(original.dbUrl, [id])
  expect(await end(before)).toEqual(undisturbed)
  // A template has no other session.
  await original.sql.end()
  await original.admin.end()
  await using copy = await copyTemplate(outhook, 'original', 'from_template')
  for (const { dbUrl } of [copy, original, copy]) {
    const worker = startWorker(dbUrl, shop)
    const ids = await publish(dbUrl, 'move.template')
    expect(await arrivals(outhook.receiver, ids, worker)).toEqual([1])
    expect(await end(worker)).toEqual(undisturbed)
  }
  const { changes } = await history(original.dbUrl)
  expect(changes).toEqual([...begun, changed])
  expect(await history(copy.dbUrl)).toMatchObject({ changes: [...begun, changed, changed] })
})

Deno.test('a pooler, another host name and another form of the URL are the same project', async () => {
  const { stack, receiver } = outhook
  const direct = stack.dbUrl
  await using session = await startPgBouncer({ dbUrl: direct, mode: 'session', servers: 4 })
  await using transaction = await startPgBouncer({ dbUrl: direct, mode: 'transaction', servers: 4 })
  const addresses = [
    [direct, 'https://shop.example.com'],
    [session.url, 'HTTP://Shop.Example.COM:80'],
    [transaction.url, 'shop.example.com'],
    [direct.replace('127.0.0.1', 'localhost'), 'https://shop.example.com./'],
    [
      transaction.url.replace('127.0.0.1', 'localhost'),
      'https://shop.example.com:443/functions/v1/',
    ],
    [direct, 'http://SHOP.example.com/?a=b'],
  ] as const
  for (const [dbUrl, project] of addresses) {
    const worker = startWorker(dbUrl, { OUTHOOK_PROJECT: project })
    const ids = await publish(direct, 'move.address')
    expect(await arrivals(receiver, ids, worker)).toEqual([1])
    expect(await end(worker)).toEqual(undisturbed)
    expect(await edgeCall(project)).toMatchObject({ ok: true, response: { deliveries: [] } })
  }
  expect(await history(direct)).toEqual({ changes: begun, announced: 0, problem: null })
})
