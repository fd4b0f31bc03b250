/** pg_upgrade of the project's server to PostgreSQL 17, which gives it another system identifier. */

import { expect } from '@std/expect'
import { postgres17 } from '../_support/postgres_17/mod.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { arrivals, end, history, outcomes, publish, query, subscribe } from './copies/deliveries.ts'
import { upgrade } from './copies/server.ts'
import { startReceiver } from './receiver/receiver.ts'

const shop = { OUTHOOK_PROJECT: 'https://shop.example.com' }

Deno.test('after pg_upgrade the project delivers what was pending, without a person', async () => {
  const bin = await postgres17({ log: () => {} })
  const receiver = startReceiver()
  const old = await startTestPostgres({ migrated: true })
  try {
    await subscribe(old.dbUrl, receiver, 'upgrade')
    const before = startWorker(old.dbUrl, shop)
    const first = await publish(old.dbUrl, 'upgrade.before')
    expect(await arrivals(receiver, first, before)).toEqual([1])
    await outcomes(old.dbUrl, first)
    expect(await end(before)).toEqual({ code: 0, refusals: [] })
    const pending = await publish(old.dbUrl, 'upgrade.pending', 3)
    const [was] = await query(old.dbUrl, 'select outbox.database_id() as id')
    await old.halt()

    await using upgraded = await upgrade(old, bin)
    const [is] = await query(upgraded.dbUrl, 'select outbox.database_id() as id')
    expect(is?.id).not.toBe(was?.id)
    const worker = startWorker(upgraded.dbUrl, shop)
    const later = await publish(upgraded.dbUrl, 'upgrade.after')
    expect(await arrivals(receiver, [...pending, ...later], worker)).toEqual([1, 1, 1, 1])
    expect(await outcomes(upgraded.dbUrl, [...first, ...pending, ...later]))
      .toEqual(Array(5).fill('delivered'))
    expect(await history(upgraded.dbUrl)).toEqual({
      changes: [
        'bound shop.example.com',
        'database_changed shop.example.com shop.example.com',
      ],
      announced: 1,
      problem: null,
    })
    expect(await end(worker)).toEqual({ code: 0, refusals: [] })
  } finally {
    await old.stop()
    await receiver.close()
  }
})
