/**
 * Real servers as receivers, through the whole product, while their workers are replaced and while they are
 * killed. Each server echoes `webhook-id`, so a stored response that is not the event's own shows up.
 *
 * The full form sends 300 events to each of six servers, once with reloads and once with kills. The short
 * form sends 100 events with reloads to nginx and to gunicorn with workers that recycle.
 */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { makeCertificates } from '../_support/brokers/certificates.ts'
import { testFolder } from '../_support/folder.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { gunicorn } from './servers/gunicorn.ts'
import { haproxy } from './servers/haproxy.ts'
import { lighttpd } from './servers/lighttpd.ts'
import { type Ends, loadServer } from './servers/load.ts'
import { nginx, nginxTls } from './servers/nginx.ts'
import { node } from './servers/node.ts'
import { php } from './servers/php.ts'
import type { Recipe } from './servers/recipe.ts'
import { startServer } from './servers/running.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const events = isShort ? 100 : 300
const recipes = isShort
  ? [nginx, gunicorn]
  : [nginx, nginxTls, gunicorn, haproxy, lighttpd, node, php]

const folder = testFolder()
const certificates = await makeCertificates(folder)

/**
 * With a default endpoint. A worker that ends closes the connections that it kept, but each request that it
 * receives gets its response: so no attempt fails.
 */
async function testReloads(outhook: TestOuthook, recipe: Recipe): Promise<void> {
  await using server = await startServer(recipe, certificates)
  const ends = await loadServer(outhook, server, { events, disturb: server.reload })
  tell(recipe, 'reloads', ends)
  expect(ends).toMatchObject({
    events,
    delivered: events,
    own: events,
    failed: {},
    breakerOpens: 0,
  })
}

/** A killed server refuses connections and breaks requests; its breaker may open, for a second. */
async function testKills(outhook: TestOuthook, recipe: Recipe): Promise<void> {
  await using server = await startServer(recipe, certificates)
  const ends = await loadServer(outhook, server, {
    events,
    disturb: server.restart,
    args: { p_retry: { strategy: 'fixed', base_delay: 0.5, max_retries: 50, jitter: true } },
  })
  tell(recipe, 'kills', ends)
  expect(ends).toMatchObject({ events, delivered: events, own: events })
  expect(['connect', 'reset']).toEqual(expect.arrayContaining(Object.keys(ends.failed)))
}

function tell({ name }: Recipe, what: string, ends: Ends): void {
  const { delivered, failed, breakerOpens, resent, slowestMs } = ends
  print(
    `  ${name}, ${what}: ${delivered} of ${events} delivered, the slowest after ${slowestMs} ms; ` +
      `${resent} sent twice, failed attempts ${
        JSON.stringify(failed)
      }, ${breakerOpens} breakers opened`,
  )
}

Deno.test(`real servers get ${events} events each`, async (t) => {
  const outhook = await startOuthook({
    only: ['deliver'],
    env: { DENO_CERT: certificates.caFile },
  })
  try {
    await outhook.sql`select outbox.set_setting('breaker.open_ms', '1000')`
    for (const recipe of recipes) {
      if (recipe.reload !== null) {
        await t.step(`${recipe.name} while it reloads`, () => testReloads(outhook, recipe))
      }
      if (isShort) continue
      await t.step(`${recipe.name} while it is killed`, () => testKills(outhook, recipe))
    }
  } finally {
    await outhook.stop()
    await Deno.remove(folder, { recursive: true })
  }
})
