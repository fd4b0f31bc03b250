import { expect } from '@std/expect'
import { slackText } from '../../../../../functions/_shared/senders/slack/text.ts'
import { sampleEvent } from '../../../samples.ts'

function textOf(type: string, data: unknown): string {
  return slackText(sampleEvent({ type, body: JSON.stringify(data) }))
}

const endpoint = { endpointId: 'e-1', orgId: 'org-1', url: 'https://a.example', status: 'enabled' }

const rows: [type: string, data: unknown, text: string][] = [
  ['order.paid', { id: 1 }, '*order.paid* (`cart-7`)\n```{"id":1}```'],
  [
    'outhook.delivery.dead_lettered',
    {
      deadLetterId: 'd-1',
      eventId: 'v-1',
      endpointId: 'e-1',
      orgId: 'org-1',
      eventType: 'order.paid',
      error: 'The endpoint responded with 500',
      retryCount: 6,
      why: 'retries_exhausted',
    },
    ':x: *Dead letter*: `order.paid` of `org-1`, retries_exhausted after 6 failed attempts: The ' +
    "endpoint responded with 500\nTo send it again: `select outbox.replay('v-1', 'e-1')`",
  ],
  [
    'outhook.dead_letters.cleared',
    endpoint,
    ':white_check_mark: *Dead letters*: none of `https://a.example` of `org-1` (`e-1`) waits any more.',
  ],
  [
    'outhook.breaker.opened',
    endpoint,
    ':warning: *Breaker open*: `https://a.example` of `org-1` (`e-1`) keeps failing. Its ' +
    'deliveries are held and it is probed until it responds.',
  ],
  [
    'outhook.breaker.closed',
    endpoint,
    ':white_check_mark: *Breaker closed*: `https://a.example` of `org-1` (`e-1`) responds again.',
  ],
  [
    'outhook.endpoint.disabled',
    { ...endpoint, status: 'disabled', reason: 'gone' },
    ':no_entry: *Endpoint disabled*: `https://a.example` of `org-1` (`e-1`) (gone). Its deliveries ' +
    "are held until `select outbox.resume_endpoint('e-1')`.",
  ],
  [
    'outhook.channel.held',
    { ...endpoint, url: '', reason: 'held: 190 Access token has expired' },
    ':no_entry: *WhatsApp channel held*: `e-1` of `org-1`, held: 190 Access token has expired. Its ' +
    "messages wait until `select outbox.resume_endpoint('e-1')`.",
  ],
  [
    'outhook.consumer.dead_lettered',
    {
      consumer: 'billing',
      topic: 'orders',
      dlqTopic: 'orders.dlq',
      messageId: 'v-1',
      error: 'no such customer',
      retryCount: 6,
    },
    ':x: *Dead letter of a consumer*: `billing` gave up on a message of `orders` after 6 attempts: no ' +
    'such customer. It is in `orders.dlq`, message `v-1`.',
  ],
  [
    'outhook.endpoint.held',
    { ...endpoint, reason: 'unreadable: the signing secret' },
    ':no_entry: *Endpoint held*: `https://a.example` of `org-1` (`e-1`). unreadable: the signing secret.',
  ],
  [
    'outhook.endpoint.released',
    endpoint,
    ':white_check_mark: *Endpoint resumed*: `https://a.example` of `org-1` (`e-1`).',
  ],
  [
    'outhook.channel.resumed',
    { ...endpoint, url: '' },
    ':white_check_mark: *WhatsApp channel resumed*: `e-1` of `org-1`.',
  ],
  [
    'outhook.template.held',
    { orgId: 'org-1', templateCode: 'code', name: 'hello', language: 'fr', reason: 'Paused' },
    ':no_entry: *WhatsApp template held*: `code` of `org-1` (hello, fr), Paused. Its messages wait until ' +
    'WhatsApp approves it again.',
  ],
  [
    'outhook.template.resumed',
    { orgId: 'org-1', templateCode: 'code', name: 'hello', language: 'fr', reason: 'Approved' },
    ':white_check_mark: *WhatsApp template resumed*: `code` of `org-1` (hello, fr).',
  ],
  [
    'outhook.whatsapp.notice',
    {
      endpointId: 'e-1',
      orgId: 'org-1',
      field: 'account_update',
      event: 'X',
      reason: 'Account review',
    },
    ':information_source: *Notice of WhatsApp*: Account review. It is about the channel `e-1` of `org-1`.',
  ],
  [
    'outhook.database.changed',
    { project: 'shop.example.com', database: '2/6', wasDatabase: '1/5' },
    ':information_source: *Another database*: the project `shop.example.com` continues in `2/6`, before ' +
    'it was `1/5`. This is normal after an upgrade, a switch to a standby server or a restore.',
  ],
  // An event of that name which somebody else has published.
  ['outhook.breaker.opened', [1], '*outhook.breaker.opened* (`cart-7`)\n```[1]```'],
  [
    'outhook.endpoint.disabled',
    {},
    ':no_entry: *Endpoint disabled*: `?` of `?` (`?`) (?). Its ' +
    "deliveries are held until `select outbox.resume_endpoint('?')`.",
  ],
  // Nothing calls everybody, nothing becomes a link or ends its block.
  [
    'note',
    { text: '<!channel> <https://evil.example|here> & ```' },
    '*note* (`cart-7`)\n```{"text":"&lt;!channel&gt; &lt;https://evil.example|here&gt; &amp; ' +
    "'''\"}```",
  ],
]

for (const [type, data, text] of rows) {
  Deno.test(`slackText() of ${type} with ${JSON.stringify(data).slice(0, 40)}`, () => {
    expect(textOf(type, data)).toBe(text)
  })
}

Deno.test('slackText() cuts long data, and halves no character', () => {
  const text = slackText(
    sampleEvent({ type: 'a', body: `"${'x'.repeat(2498)}🚲${'y'.repeat(9000)}"` }),
  )
  expect(text.length).toBeLessThan(2600)
  expect(text).toMatch(/x…```$/)
  expect(text.isWellFormed()).toBe(true)
})
