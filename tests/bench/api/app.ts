/** The function api as a process, with one route more: an RPC that inserts one row. Prints its port. */

import { callbackDatabase } from '../../../functions/_shared/messages/callbacks/database.ts'
import { connectFunctions } from '../../../functions/_shared/database/functions.ts'
import { createLog } from '../../../functions/_shared/base/log.ts'
import { createApp } from '../../../functions/api/app.ts'
import { createAuthenticate } from '../../../functions/api/auth/authenticate.ts'
import { apiDatabase } from '../../../functions/api/database.ts'
import { createClient } from '@supabase/supabase-js'

const [url = '', key = ''] = Deno.args
const callFunction = connectFunctions({ url, key })
const app = createApp({
  database: apiDatabase(callFunction),
  callbacks: callbackDatabase(callFunction),
  authenticate: createAuthenticate({
    secretKeys: [{ name: 'default', key }],
    publishableKeys: [],
    portalSecrets: [],
    jwks: { keys: [] },
    jwksUrl: new URL('/auth/v1/.well-known/jwks.json', url),
    legacySecret: null,
    issuers: [],
    wallNow: Date.now,
  }),
  portalSecrets: [],
  verifySecrets: [],
  checkChannel: () => Promise.resolve([]),
  corsOrigins: [],
  wallNow: Date.now,
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  // Lines go nowhere: both ways would write one.
  log: createLog({ debug: false, write: () => {} }),
})

const client = createClient(url, key, { db: { schema: 'outbox' } })
app.post('/bench-row', async (c) => {
  const { error } = await client.rpc('insert_bench_row', { p_body: await c.req.text() })
  if (error !== null) throw new Error(error.message)
  return c.json({}, 202)
})

const { port } = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, app.fetch).addr
await Deno.stdout.write(new TextEncoder().encode(`${port}\n`))
