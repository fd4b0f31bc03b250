/** What a receiver repeats of our secrets is not stored. */

import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { attemptDelivery } from '../../../functions/deliver/attempt.ts'
import { maskSecrets } from '../../../functions/deliver/mask.ts'
import { overlapOf, prefixesOf } from '../../../functions/deliver/overlap.ts'
import { secretForms } from '../../../functions/deliver/secret_forms.ts'
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
  'x-pin': 'k4711',
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
  ['when it is short', 'pin k4711', 'k4711'],
  ['when it is short and in quotes', '{"pin":"k4711"}', 'k4711'],
  ['as the signing secret', `whsec_${bare}`, bare],
  ['as the signing secret without its prefix', bare, bare],
  ['as the credentials of a broker', 'user broker-user with pass/word+1', 'pass/word+1'],
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

/** As the encoders of other languages write them. */
const encoders: [how: string, text: string][] = [
  ['by Go as JSON', String.raw`p+q'r\u0026s\u003ct\u003e\u0026/u(v)!*\"w`],
  ['by .NET as JSON', String.raw`p\u002Bq\u0027r\u0026s\u003Ct\u003E\u0026/u(v)!*\u0022w`],
  ['by Go as HTML', 'p+q&#39;r&amp;s&lt;t&gt;&amp;/u(v)!*&#34;w'],
  ['by Python as HTML', 'p+q&#x27;r&amp;s&lt;t&gt;&amp;/u(v)!*&quot;w'],
  ['by PHP as HTML', 'p+q&#039;r&amp;s&lt;t&gt;&amp;/u(v)!*&quot;w'],
  ['by Python for a path', 'p%2Bq%27r%26s%3Ct%3E%26/u%28v%29%21%2A%22w'],
  ['by PHP for a URL', 'p%2Bq%27r%26s%3Ct%3E%26%2Fu%28v%29%21%2A%22w'],
  ['by .NET as hexadecimal digits', '702B71277226733C743E262F75287629212A2277'],
]
for (const [how, text] of encoders) {
  Deno.test(`a secret that is written ${how} is masked`, () => {
    const sender = sampleEndpoint({ headers: { 'x-key': `p+q'r&s<t>&/u(v)!*"w` } })
    const outcome = maskSecrets(
      { outcome: 'delivered', status: 200, response: `=${text}=` },
      sender,
    )
    expect(outcome.response).toBe('=***=')
  })
}

/** As a receiver without bad intent writes them, by one step more than usual. */
const careless: [how: string, secret: string, text: string][] = [
  ['percent-encoded twice', 'a/B+c"d&e f%1', 'a%252FB%252Bc%2522d%2526e%2520f%25251'],
  ['percent-encoded twice with small letters', 'a/B+c"d&e f', 'a%252fB%252bc%2522d%2526e%2520f'],
  ['as a form that is percent-encoded', 'a/B+c d~e f', 'a%252FB%252Bc%2Bd~e%2Bf'],
  ['percent-encoded, without the slashes, twice', 'path/of/a+secret', 'path/of/a%252Bsecret'],
  ['as quoted-printable', 'part=one&part=two', 'part=3Done&part=3Dtwo'],
  ['by Python as JSON', 'sésame "ü"', String.raw`s\u00e9same \"\u00fc\"`],
  ['by .NET as JSON', 'sésame ü/😀', String.raw`s\u00E9same \u00FC/\uD83D\uDE00`],
  ['by PHP as JSON', 'sésame ü/😀', String.raw`s\u00e9same \u00fc\/\ud83d\ude00`],
  ['as JSON in JSON', 'a "b" \\ c/d', String.raw`a \\\"b\\\" \\\\ c/d`],
  ['in small letters', 'Token-Of-Ada', 'token-of-ada'],
  ['in capitals', 'Token-Of-Ada', 'TOKEN-OF-ADA'],
]
for (const [how, secret, text] of careless) {
  Deno.test(`a secret that a receiver repeats ${how} is masked`, () => {
    const to = sampleEndpoint({ credentials: { password: secret } })
    const response = `=${text}=`
    expect(maskSecrets({ outcome: 'delivered', response }, to).response).toBe('=***=')
  })
}

Deno.test('a word that only differs in its letters from a short secret stays', () => {
  const to = sampleEndpoint({ headers: { a: 'Orders' } })
  expect(maskSecrets({ outcome: 'delivered', response: 'no ORDERS, orders' }, to).response)
    .toBe('no ORDERS, orders')
})

const parted: [header: string, secret: string][] = [
  ['Token token="s3cr3tvalue123"', 's3cr3tvalue123'],
  ["Token token='s3cr3tvalue123'", 's3cr3tvalue123'],
  ['ApiKey ada:s3cr3tvalue123', 's3cr3tvalue123'],
  ['id=7&key=s3cr3tvalue123', 's3cr3tvalue123'],
  ['Digest a=b=s3cr3tvalue123', 's3cr3tvalue123'],
  ['key=abc123:def456', 'abc123:def456'],
]
for (const [header, secret] of parted) {
  Deno.test(`the secret in the header ${header} is masked if it is repeated alone`, () => {
    const sender = sampleEndpoint({ headers: { authorization: header } })
    const response = `no such key: ${secret}.`
    expect(maskSecrets({ outcome: 'delivered', response }, sender))
      .toMatchObject({ response: 'no such key: ***.' })
  })
}

Deno.test('what decides the retry stays, also if it is equal to a header', () => {
  const headers = { 'x-max-age': '36000000', 'x-code': 'NO_ROUTE', 'x-day': 'Wed, 21 Oct 2026' }
  const to = sampleEndpoint({ headers })
  const waits = [
    '36000000',
    'Wed, 21 Oct 2026 07:28:00 GMT',
    'Wednesday, 21-Oct-26 07:28:00 GMT',
    'Wed Oct 21 07:28:00 2026',
  ]
  for (const retry_after of waits) {
    const outcome: Outcome = {
      outcome: 'failed',
      error_class: 'status',
      error: 'x',
      code: 'NO_ROUTE',
      retry_after,
    }
    expect(maskSecrets(outcome, to)).toEqual(outcome)
  }
})

Deno.test('common words and short numbers are no secrets, and other short values only as whole words', () => {
  const to = sampleEndpoint({
    headers: { a: 'true', b: 'null', c: '2024', d: '1.5', e: 'prod', f: 'endpoint' },
    credentials: { username: 'orders', password: 'pw12345678' },
  })
  const outcomes: Outcome[] = [
    { outcome: 'delivered', response: '{"ok":true,"a":null,"at":"2024-01-01","n":1.5}' },
    { outcome: 'delivered', response: 'products, _prod and prod7, cut at prod7', cut: true },
    { outcome: 'delivered', response: 'and within a word: upro', cut: true },
    { outcome: 'failed', error_class: 'broker', error: 'No queue takes orders', code: 'NO_ROUTE' },
    { outcome: 'failed', error_class: 'timeout', error: 'The endpoint did not respond in time' },
    { outcome: 'failed', error_class: 'status', error: 'The endpoint responded with 429' },
  ]
  for (const outcome of outcomes) expect(maskSecrets(outcome, to)).toEqual(outcome)
  expect(maskSecrets({ outcome: 'delivered', response: 'in "prod" or prod' }, to))
    .toMatchObject({ response: 'in "***" or ***' })
  expect(maskSecrets({ outcome: 'failed', error_class: 'status', error: 'the endpoint' }, to))
    .toMatchObject({ error: 'the ***' })
})

/** A text that counts how often a character is read. */
function counted(text: string): { text: Pick<string, 'length' | 'charCodeAt'>; reads: number } {
  const counter = {
    reads: 0,
    text: {
      length: text.length,
      charCodeAt: (at: number) => {
        counter.reads++
        return text.charCodeAt(at)
      },
    },
  }
  return counter
}

Deno.test('the end of a response that begins a secret is found in linear time', () => {
  const cases: [text: string, secret: string, length: number][] = [
    [`${'a'.repeat(4094)}bb`, 'a'.repeat(4096), 0],
    ['a'.repeat(4096), `${'a'.repeat(4095)}b`, 4095],
    ['ab'.repeat(2048), `${'ab'.repeat(1000)}c`, 2000],
    ['xabcab', 'abcabd', 5],
    ['xabcabd', 'abcabd', 6],
    ['', 'abc', 0],
  ]
  for (const [text, secret, length] of cases) {
    const form = counted(secret)
    const prefixes = prefixesOf(form.text)
    const end = counted(text)
    expect(overlapOf(end.text, form.text, prefixes)).toBe(length)
    expect(end.reads).toBeLessThanOrEqual(Math.min(text.length, secret.length))
    expect(form.reads).toBeLessThanOrEqual(5 * secret.length + 3 * text.length)
  }
})

Deno.test('at most 32 parts of the values of an endpoint count, the longest first', () => {
  const parts = Array.from({ length: 100 }, (_, at) => `part-${at}-${'x'.repeat(at)}`)
  const forms = secretForms(sampleEndpoint({ headers: { a: parts.join(' ') }, secrets: [] }))
    .map(({ text }) => text)
  expect(parts.filter((part) => forms.includes(part))).toEqual(parts.slice(-32))
  const long = secretForms(sampleEndpoint({ headers: { a: 'k='.repeat(2000) }, secrets: [] }))
  // Each text has up to 32 forms of at most five times its length.
  const characters = long.reduce((sum, { text }) => sum + text.length, 0)
  expect(characters).toBeLessThan(32 * 5 * (16_384 + 4000))
})

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
    {
      outcome: 'failed',
      error_class: 'broker',
      error: 'No queue of broker-user',
      code: 'NO_ROUTE',
    },
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
