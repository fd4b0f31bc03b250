/** What a receiver repeats of our secrets is not stored. */

import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { attemptDelivery } from '../../../functions/deliver/attempt.ts'
import { maskSecrets } from '../../../functions/deliver/mask.ts'
import type { Endpoint, Outcome } from '../../../functions/_shared/contract/contract.ts'
import type { PostRequest } from '../../../functions/_shared/transport/transport.ts'
import { webhookSender } from '../../../functions/_shared/senders/webhook.ts'
import { slackSender } from '../../../functions/_shared/senders/slack/sender.ts'
import type { Sender } from '../../../functions/_shared/senders/sender.ts'
import { createKeyCache } from '../../../functions/_shared/signing/sign.ts'
import { createPolicySource } from '../../../functions/_shared/connect/address.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../samples.ts'
import { createFakeClock } from './fake_clock.ts'

const token = 'a/B+c"d&e f%1234567890'
const bare = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const login = Buffer.from('ada:correct horse').toString('base64')
const headers = {
  'X-Api-Key': token,
  authorization: 'Bearer token-of-thirty-characters-xyz',
  cookie: 'session=0123456789abcdef; theme=dark',
  'x-login': `Basic ${login}`,
  'x-pin': '4711',
  'x-lane': 'eu',
}
const endpoint = sampleEndpoint({
  headers,
  credentials: {
    username: 'broker-user',
    password: 'pass/word+1',
    url: 'https://h.example/T0/B0/key',
  },
  channel: { access_token: 'EAAGm0PX4ZCpsBA' },
})

function base64In(before: string, text: string): string {
  return Buffer.from(`${before}${text} and more`).toString('base64')
}

const echoes: [how: string, text: string, secret: string][] = [
  ['as it is', `key=${token};`, token],
  ['as a header with small letters', `x-api-key: ${token}`, token],
  ['as JSON', JSON.stringify({ key: token }), 'c\\"d'],
  ['as JSON with escaped slashes', JSON.stringify(token).replaceAll('/', '\\/'), 'c\\"d'],
  ['encoded for a URL', `k=${encodeURIComponent(token)}`, 'B%2Bc'],
  [
    'encoded for a URL with small letters',
    encodeURIComponent(token).replace(/%../g, (e) => e.toLowerCase()),
    'B%2bc',
  ],
  ['as a form', new URLSearchParams({ k: token }).toString(), 'B%2Bc'],
  ['as HTML', `<td>${token.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</td>`, 'c&quot;d'],
  ['as hexadecimal digits', Buffer.from(token).toString('hex'), Buffer.from(token).toString('hex')],
  ['as base64', btoa(token), btoa(token).slice(4, 20)],
  [
    'as base64 for URLs',
    btoa(token).replaceAll('+', '-').replaceAll('/', '_'),
    btoa(token).slice(4, 20),
  ],
  ['in base64 after one byte', base64In('x', token), base64In('x', token).slice(4, 24)],
  ['in base64 after two bytes', base64In('xy', token), base64In('xy', token).slice(4, 24)],
  ['in base64 after three bytes', base64In('xyz', token), base64In('xyz', token).slice(4, 24)],
  ['twice', `${token} ${token}`, token],
  ['without the word Bearer', '{"t":"token-of-thirty-characters-xyz"}', 'token-of'],
  ['as the value of a cookie', '{"session":"0123456789abcdef"}', '0123456789abcdef'],
  ['as the decoded login', 'ada:correct horse', 'correct'],
  ['as the password of a login', 'password "correct horse" is wrong', 'correct horse'],
  ['when it is short', 'pin 4711', '4711'],
  ['as the signing secret', `whsec_${bare}`, bare],
  ['as the signing secret without its prefix', bare, bare],
  ['as the credentials of a broker', 'user broker-user with pass/word+1', 'pass/word+1'],
  ['as a user name', 'no such user: broker-user', 'broker-user'],
  ['as the path of a secret URL', 'POST /T0/B0/key', '/T0/B0/key'],
  ['as the token of a channel', 'Malformed token EAAGm0PX4ZCpsBA', 'EAAGm0PX4ZCpsBA'],
]
for (const [how, text, secret] of echoes) {
  Deno.test(`a secret that a response repeats ${how} is masked`, () => {
    expect(text).toContain(secret)
    const outcome = maskSecrets({ outcome: 'delivered', status: 200, response: text }, endpoint)
    expect(outcome).toMatchObject({ outcome: 'delivered', status: 200, lossy: true })
    expect(outcome.response).toContain('***')
    expect(outcome.response).not.toContain(secret)
  })
}

Deno.test('a secret is masked wherever the stored part of a response ends within it', () => {
  const text = `{"key":"${JSON.stringify(token).slice(1)}`
  for (let end = 12; end < text.length; end++) {
    const response = text.slice(0, end)
    const outcome = maskSecrets({ outcome: 'delivered', response, cut: true }, endpoint)
    expect([end, outcome.response]).toEqual([end, '{"key":"***'])
  }
  const whole = maskSecrets({ outcome: 'delivered', response: 'the cat a/B+' }, endpoint)
  expect(whole.response).toBe('the cat a/B+')
})

Deno.test('what is no secret stays as it was received, and so does the outcome', () => {
  const outcomes: Outcome[] = [
    { outcome: 'delivered' },
    { outcome: 'delivered', status: 204, response: 'ok' },
    { outcome: 'delivered', status: 200, response: '{"lane":"eu","received":true}' },
    { outcome: 'delivered', response: 'theme dark, Bearer, Basic, session.', cut: true },
    { outcome: 'failed', error_class: 'timeout', error: 'The endpoint did not respond in time' },
    {
      outcome: 'failed',
      error_class: 'status',
      error: 'It responded with 500',
      retry_after: '120',
    },
    { outcome: 'failed', error_class: 'broker', error: 'NO_ROUTE', code: 'NO_ROUTE' },
    { outcome: 'delivered', provider_id: 'wamid.HBg', provider: { usage: { calls: [1, null] } } },
  ]
  for (const outcome of outcomes) expect(maskSecrets(outcome, endpoint)).toEqual(outcome)
})

Deno.test('a secret is masked in errors, headers and facts of a provider', () => {
  const text = `no ${token}`
  expect(maskSecrets({
    outcome: 'failed',
    error_class: 'status',
    error: text,
    code: text,
    retry_after: text,
    response: text,
    provider: { title: text, usage: { a: [{ b: text }] } },
  }, endpoint)).toEqual({
    outcome: 'failed',
    error_class: 'status',
    error: 'no ***',
    code: 'no ***',
    retry_after: 'no ***',
    response: 'no ***',
    lossy: true,
    provider: { title: 'no ***', usage: { a: [{ b: 'no ***' }] } },
  })
  const error = `${'x'.repeat(480)}${token}`.slice(0, 500)
  expect(maskSecrets({ outcome: 'failed', error_class: 'status', error }, endpoint))
    .toMatchObject({ error: `${'x'.repeat(480)}***` })
})

/** Sends through a receiver that repeats all headers of the request with other letters. */
async function sendToEcho(sender: Sender, to: Endpoint, status: number): Promise<string> {
  const delivery = sampleDelivery()
  const clock = createFakeClock()
  const settings = sampleSettings()
  const result = await attemptDelivery(
    { senders: new Map([[to.kind, sender]]), clock, log: () => {} },
    delivery,
    {
      response: {
        stale: 0,
        routed: 0,
        stop: null,
        deliveries: [delivery],
        events: { [delivery.event]: sampleEvent() },
        endpoints: { [delivery.endpoint]: to },
        settings,
        error: null,
      },
      calledAt: 0,
      deps: {
        transport: {
          post: ({ url, headers }: PostRequest) => {
            const text = [url.href, ...headers].map((item, at) => {
              return at % 2 === 0 ? item : item.toUpperCase()
            }).join('\n')
            const body = new TextEncoder().encode(text)
            return Promise.resolve({ kind: 'response', status, retryAfter: null, body, cut: false })
          },
          close: () => Promise.resolve(),
        },
        keys: createKeyCache(),
        settings,
        policy: createPolicySource()({ allowHttp: true, allowCidrs: [] }),
        wallNow: clock.wallNow,
      },
    },
  )
  return JSON.stringify(result)
}

for (const status of [200, 500]) {
  Deno.test(`the result of a delivery to a receiver that echoes with ${status} has no header value`, async () => {
    const result = await sendToEcho(webhookSender, endpoint, status)
    expect(result).toContain('X-API-KEY')
    for (const value of Object.values(headers).filter(({ length }) => length >= 4)) {
      expect(result).not.toContain(JSON.stringify(value).slice(1, -1))
    }
  })
}

Deno.test('the URL of a Slack webhook is not in the result of a receiver that echoes it', async () => {
  const url = 'https://hooks.slack.example/services/T0001/B0001/abcdefgh'
  const slack = sampleEndpoint({ kind: 'slack', credentials: { url } })
  const result = await sendToEcho(slackSender, slack, 404)
  expect(result).toContain('***')
  expect(result).not.toContain('T0001')
})
