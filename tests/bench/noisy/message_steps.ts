/** Messages of the noisy organisation, and what they need: templates, consents, opt-outs. */

import { type Calls, idOf, type Steps } from './calls.ts'
import { MOST_MESSAGES, TOKEN } from './options.ts'

/** Nearly 64 KiB in texts of the greatest length. */
const parameters = Array(60).fill('x'.repeat(1_024))
const evidence = 'x'.repeat(2_000)

/** A person that no other message went to, so that no limit of a pair delays it. */
let people = Math.floor(Math.random() * 8_000_000)
let templates = 0

function somebody(): string {
  return `+1202${2_000_000 + people++ % 8_000_000}`
}

export function messageSteps({ call, ids }: Calls): Steps<
  'message' | 'template' | 'consent' | 'channel'
> {
  let messages = 0

  /** Every other message is cancelled at once. Of every tenth one a repeat is asked for, which only a failed one gets. */
  async function message(): Promise<void> {
    const answer = await call('POST', '/outbound/messages', {
      channel: 'WHATSAPP',
      to: somebody(),
      templateCode: 'noise',
      payloadJson: { parameters },
    })
    const id = idOf(answer)
    messages++
    if (id === null) return
    if (messages % 2 === 0) await call('POST', `/outbound/messages/${id}/cancel`)
    if (messages % 10 === 0) {
      await call('POST', `/outbound/messages/${id}/resend`)
      await call('GET', '/outbound/messages/counts')
    }
  }

  /** Each template has a code of its own, and every tenth list has all of them. */
  async function template(): Promise<void> {
    const body = { name: 'noise', language: 'fr', category: 'UTILITY' }
    await call('PUT', `/templates/t${templates++}`, body)
    if (templates % 10 !== 0) return
    await call('GET', '/templates')
    await call('DELETE', `/templates/t${templates - 1}`)
  }

  async function consent(): Promise<void> {
    const to = somebody()
    const source = 'noise'
    await call('POST', `/dossiers/d${people}/consents`, {
      channel: 'WHATSAPP',
      purposes: ['UTILITY', 'MARKETING'],
      granted: true,
      source,
      evidence,
    })
    await call('PUT', `/opt-outs/${encodeURIComponent(to)}`, { source, evidence })
    await call('DELETE', `/opt-outs/${encodeURIComponent(to)}`)
  }

  async function channel(): Promise<void> {
    for (const id of await ids('/channels')) {
      await call('PATCH', `/channels/${id}`, { pairSeconds: 0, messagesPerSecond: MOST_MESSAGES })
      await call('PUT', `/channels/${id}/access-token`, { accessToken: TOKEN })
      await call('POST', `/channels/${id}/default`)
      await call('POST', `/channels/${id}/resume`)
    }
  }

  return { message, template, consent, channel }
}
