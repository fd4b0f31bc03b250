import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { createClient } from '../../../package/client/mod.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs, type TestOuthook } from '../../_support/outhook.ts'
import type { UserFolder } from './install.ts'
import { startProgram } from './program.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

/**
 * Starts a receiver of the page, publishes to it, expects that it handles the event, and replays the
 * delivery. Returns how often it handled an event.
 */
export async function receives(
  { user, outhook, functionName = 'api' }: {
    user: Pick<UserFolder, 'path'>
    outhook: Pick<TestOuthook, 'stack'>
    functionName?: string
  },
  command: string[],
  org: string,
  env: Record<string, string> = {},
): Promise<number> {
  await using receiver = startProgram(command, user.path, {
    // During a rotation the receiver has two secrets.
    WEBHOOK_SECRET: `${otherSecret},${secret}`,
    PORT: '0',
    ...env,
  })
  const [, origin] = await receiver.find(/Listening on (http:\/\/127\.0\.0\.1:\d+)/)
  const url = `${origin}/webhooks`
  const client = createClient({
    url: outhook.stack.apiUrl,
    key: outhook.stack.keys.secretKey,
    orgId: org,
    functionName,
  })
  const endpoint = await client.createEndpoint({ body: { url, secret } })
  const { id } = await client.publishEvent({
    body: { type: 'order.paid', payload: { id: 7, total: 12.5 } },
  })
  expect((await receiver.find(/^paid .*/))[0]).toBe('paid 7 12.5')
  const delivery = { path: { deliveryId: `${id}.${endpoint.id}` } }
  const delivered = async (): Promise<boolean> =>
    (await client.getDelivery(delivery)).status === 'delivered'
  expect(await waitUntil(delivered, { timeoutMs: patienceMs })).toBe(true)

  const forged = await fetch(url, { method: 'POST', body: '{}' })
  expect([forged.status, await forged.text()])
    .toEqual([401, 'The header webhook-timestamp is missing'])
  await client.replayDelivery(delivery)
  const twice = async (): Promise<boolean> => {
    const { data } = await client.listAttempts(delivery)
    return data.filter(({ outcome }) => outcome === 'delivered').length === 2
  }
  expect(await waitUntil(twice, { timeoutMs: patienceMs })).toBe(true)
  return receiver.lines.filter((line) => line.startsWith('paid')).length
}
