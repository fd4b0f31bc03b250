/** The endpoint of `deno task start`; it exists while its receiver runs. */

import { createClient } from '@supabase/supabase-js'
import { z } from 'zod'
import { SetupError } from '../errors.ts'
import type { Stack } from '../stack.ts'

const demoEndpoint = z.object({ id: z.uuid(), secret: z.string() })

export type DemoEndpoint = z.infer<typeof demoEndpoint>

/** Identifies the endpoints of earlier starts. */
const DESCRIPTION = 'The receiver of deno task start'

/**
 * Creates an endpoint at `url` for all events, by RPC as an application would. Throws a SetupError with
 * the remedy if it is refused.
 */
export async function makeEndpoint(stack: Stack, url: string): Promise<DemoEndpoint> {
  const client = createClient(stack.apiUrl, stack.keys.secretKey, { db: { schema: 'outbox' } })
  const { data, error } = await client.rpc('create_endpoint', {
    p_url: url,
    p_description: DESCRIPTION,
  })
  if (error !== null) {
    const why = `${error.message} ${error.hint ?? ''}`.trim()
    throw new SetupError(
      `Cannot create the endpoint ${url}: ${why}. A new local database allows it: a setting ` +
        'egress.allow_… has changed. Restore it, or start with --fresh',
    )
  }
  return demoEndpoint.parse(data)
}

/**
 * Deletes the endpoints of this and earlier starts, whose receivers are closed. If the database has ended,
 * the next start does it.
 */
export async function removeEndpoints(stack: Stack): Promise<void> {
  await stack.psql(
    `select outbox.delete_endpoint(id) from outbox.endpoint
    where description = :'description' and status <> 'deleted';`,
    { args: ['-v', `description=${DESCRIPTION}`] },
  )
}
