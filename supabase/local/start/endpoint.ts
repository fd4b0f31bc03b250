/** The endpoint of `deno task start`: there while its receiver is. */

import { createClient } from '@supabase/supabase-js'
import { z } from 'zod'
import { SetupError } from '../errors.ts'
import type { Stack } from '../stack.ts'

const demoEndpoint = z.object({ id: z.uuid(), secret: z.string() })

/** The endpoint's id and its signing secret. */
export type DemoEndpoint = z.infer<typeof demoEndpoint>

/** By this the endpoints of earlier starts are known. */
const DESCRIPTION = 'The receiver of deno task start'

/**
 * Makes an endpoint at `url` that wants every event, by RPC as an application would. Throws a
 * SetupError with the remedy when it is refused.
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
        'egress.allow_… was changed since. Begin anew with --fresh, or set it back',
    )
  }
  return demoEndpoint.parse(data)
}

/**
 * Deletes the endpoints of this and of earlier starts: behind them nobody listens any more. Where
 * the database cannot do it, since it has ended, the next start does.
 */
export async function removeEndpoints(stack: Stack): Promise<void> {
  await stack.psql(
    `select outbox.delete_endpoint(id) from outbox.endpoint
    where description = :'description' and status <> 'deleted';`,
    { args: ['-v', `description=${DESCRIPTION}`] },
  )
}
