/** Parts of a response that need a scope of their own. */

import { expect } from '@std/expect'
import type { Scope } from '../../../functions/api/auth/scopes.ts'
import { apiAlone } from '../../_support/api_alone.ts'

const at = '2026-03-01T12:00:00.000Z'
const id = '01900000-0000-7000-8000-00000000000a'
const delivery = {
  ...{ endpointId: id, status: 'delivered', reason: null, attempt: 1 },
  ...{ nextAttemptAt: null, finishedAt: at },
}
const execution = {
  ...{ id, executedAt: at },
  steps: [{ eventId: id, eventType: 'order.paid', createdAt: at, deliveries: [delivery] }],
}
const inbound = {
  data: [{
    ...{ id: '1', channelId: id, personId: '1', senders: ['+12025550111', 'US.1'], type: 'text' },
    ...{ text: 'Hello', replyTo: null, sentAt: at, receivedAt: at, erasedAt: null },
  }],
  nextCursor: null,
}

/** The response of this route to a user with these scopes. */
async function get(path: string, answer: unknown, scopes: Scope[]): Promise<unknown> {
  const app = apiAlone({ result: () => answer, scopes })
  return await (await app.request(`/api/v1${path}`)).json()
}

Deno.test('the log of an execution shows its deliveries only to a token that may read deliveries', async () => {
  const path = `/saga-executions/${id}`
  expect(await get(path, execution, ['sagas:read', 'deliveries:read'])).toEqual(execution)
  expect(await get(path, execution, ['sagas:read']))
    .toEqual({ ...execution, steps: [{ ...execution.steps[0], deliveries: [] }] })
})

Deno.test('an inbound message shows the identifiers of its sender only to a token that may read people', async () => {
  const path = '/inbound-messages'
  expect(await get(path, inbound, ['messages:read', 'consents:read'])).toEqual(inbound)
  expect(await get(path, inbound, ['messages:read']))
    .toEqual({ ...inbound, data: [{ ...inbound.data[0], senders: [] }] })
})
