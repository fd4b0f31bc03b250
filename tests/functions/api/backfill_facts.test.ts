/** What the limits of a portal token are compared with, of a replay job and of a backfill. */

import { expect } from '@std/expect'
import { loaders } from '../../../functions/api/middleware/object_facts.ts'

const endpointId = 'aaaaaaaa-0000-4000-8000-000000000000'
const results: Record<string, unknown> = {
  get_org_endpoint: { id: endpointId, kind: 'webhook', eventTypes: ['order.*', 'cart.*'] },
}

async function factsOf(job: Record<string, unknown>): Promise<unknown> {
  return await loaders['replay-jobs']?.load(
    {
      call: (name, _args, schema) =>
        Promise.resolve(schema.parse(
          results[name] ??
            { endpointId, source: 'dead_letters', ...job },
        )),
    },
    'org-1',
    '1',
  )
}

Deno.test('a replay job has the event type that it names', async () => {
  expect(await factsOf({ eventType: 'order.paid' })).toEqual({ endpointId, types: ['order.paid'] })
  expect(await factsOf({})).toEqual({ endpointId, types: [null] })
})

Deno.test('a backfill has its event types, or those of its endpoint', async () => {
  expect(await factsOf({ source: 'events', eventTypes: ['order.paid'] }))
    .toEqual({ endpointId, types: ['order.paid'] })
  expect(await factsOf({ source: 'events' })).toEqual({ endpointId, types: ['order.*', 'cart.*'] })
})
