import { Buffer } from 'node:buffer'
import { checkTarget } from '../../connect/target.ts'
import type { Clock } from '../../base/clock.ts'
import { version } from '../../base/version.ts'
import type { Delivery, Endpoint, EventRow, Outcome } from '../../contract/contract.ts'
import { messageOf } from '../message.ts'
import type { Sender, SenderDeps } from '../sender.ts'
import { failed, outcomeOf } from './response.ts'
import { type Channel, channelOf } from './outgoing.ts'
import { createPacer } from './pacer.ts'
import { graphRequest } from './request.ts'
import { usageHeaders } from './usage.ts'

/** Sends messages through the WhatsApp Cloud API, spaced by number. */
export function createWhatsAppSender(clock: Clock): Sender {
  const pacer = createPacer(clock)

  async function ready(_delivery: Delivery, endpoint: Endpoint, event: EventRow): Promise<boolean> {
    const [message, channel] = [messageOf(event), channelOf(endpoint)]
    // Without one of them, send() reports the failure.
    if (message !== null && channel !== null) await pacer.wait(message, channel)
    return true
  }

  return { ready, send }
}

/** A response has about 300 bytes, an error up to a few thousand. */
const responseBytes = 16_384

async function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const [message, channel] = [messageOf(event), channelOf(endpoint)]
  if (channel === null || message === null) {
    const missing = channel === null ? 'channel' : 'message'
    return failed(
      'protocol',
      `The delivery has no ${missing}: deploy functions and migrations of the same version`,
      {
        code: 'incomplete',
      },
    )
  }
  const target = checkTarget(messagesUrl(channel), deps.policy)
  if (!target.ok) {
    return failed('blocked', `The setting whatsapp.graph_url is not usable: ${target.problem}`)
  }
  if (!/^[\x21-\x7e]+$/.test(channel.access_token)) {
    const problem = 'The access token is empty or has invalid characters: set it again'
    return failed('protocol', problem, { code: 'invalid_token' })
  }
  const request = graphRequest(message)
  if (!request.ok) {
    const problem = `The message's payload is invalid: ${request.problem}`
    return failed('protocol', problem, { code: 'invalid_payload' })
  }
  const exchange = await deps.transport.post({
    endpoint: delivery.endpoint,
    // A person could get the message twice. After `reset`, the retry waits ten minutes for a callback.
    isRepeatable: false,
    url: target.url,
    headers: [
      'authorization',
      `Bearer ${channel.access_token}`,
      'content-type',
      'application/json',
      'user-agent',
      `Outhook/${version}`,
    ],
    body: Buffer.from(JSON.stringify(request.body), 'utf8'),
    timeoutMs: endpoint.timeout_ms,
    successBytes: responseBytes,
    failureBytes: responseBytes,
    keepHeaders: usageHeaders,
    policy: deps.policy,
  })
  return outcomeOf(exchange)
}

function messagesUrl({ graph_url, graph_version, phone_number_id }: Channel): string {
  const base = graph_url.replace(/\/+$/, '')
  return `${base}/${graph_version}/${encodeURIComponent(phone_number_id)}/messages`
}
