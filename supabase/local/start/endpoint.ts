/** The endpoint of `deno task start`: made once for a database, found again at the next start. */

import { createClient } from '@supabase/supabase-js'
import { join } from 'node:path'
import { z } from 'zod'
import { SetupError } from '../errors.ts'
import type { Stack } from '../stack.ts'

const demoEndpoint = z.object({ id: z.uuid(), secret: z.string(), port: z.number() })

/** The endpoint's id, its signing secret, and the receiver's port that its URL names. */
export type DemoEndpoint = z.infer<typeof demoEndpoint>

/** What an earlier start noted in `dataDir`; null when nothing, or nothing readable, is there. */
export async function readEndpoint(dataDir: string): Promise<DemoEndpoint | null> {
  try {
    return demoEndpoint.parse(JSON.parse(await Deno.readTextFile(noteIn(dataDir))))
  } catch {
    return null
  }
}

/** Whether the database of `stack` has that endpoint: it may have been begun anew since the note. */
export async function hasEndpoint(stack: Stack, { id }: DemoEndpoint): Promise<boolean> {
  const { stdout } = await stack.psql(
    `select count(*) from outbox.endpoint where id = :'id' and state = 'enabled';`,
    { args: ['-v', `id=${id}`] },
  )
  return stdout === '1'
}

/** Makes an endpoint that wants every event, by RPC as an application would, and notes it in `dataDir`. */
export async function makeEndpoint(
  stack: Stack,
  dataDir: string,
  receiver: { url: string; port: number },
): Promise<DemoEndpoint> {
  const client = createClient(stack.apiUrl, stack.keys.secretKey, { db: { schema: 'outbox' } })
  const { data, error } = await client.rpc('create_endpoint', {
    p_url: receiver.url,
    p_description: 'The receiver of deno task start',
  })
  if (error !== null) {
    throw new SetupError(`Cannot create the endpoint: ${error.message} ${error.hint ?? ''}`.trim())
  }
  const endpoint = demoEndpoint.parse({ ...data, port: receiver.port })
  await Deno.writeTextFile(noteIn(dataDir), JSON.stringify(endpoint), { mode: 0o600 })
  return endpoint
}

function noteIn(dataDir: string): string {
  return join(dataDir, 'receiver.json')
}
