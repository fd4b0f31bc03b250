/** What each kind of answer, and of no answer, makes of a delivery: the real sender between two real dispatches. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type Attempts, type Fate, startAttempts, type Target } from './receiver/attempts.ts'
import { expired, selfSigned, untrusted, wrongName } from './receiver/certificate.ts'
import { rawBehaviours, startFull, startRaw } from './receiver/raw.ts'
import { startReceiver } from './receiver/receiver.ts'
import { patienceMs } from '../_support/patience.ts'

type Row = [
  what: string,
  url: string,
  expected: Partial<Fate>,
  more?: { timeoutMs?: number; body?: string },
]

const addresses: Record<string, string> = {
  'receiver.test': '127.0.0.1',
  'v6.test': '::1',
  'inside.test': '10.0.0.1',
}

const pools = {
  ca: [selfSigned, wrongName, expired].map(({ cert }) => cert).join('\n'),
  resolve: (name: string) => {
    const address = addresses[name]
    if (address === undefined) {
      return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    }
    return Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }])
  },
}

let attempts: Attempts

Deno.test.beforeAll(async () => {
  attempts = await startAttempts(pools)
})
Deno.test.afterAll(async () => {
  await attempts?.[Symbol.asyncDispose]()
})

const delivered = { outcome: 'delivered', deliveryStatus: 'delivered', next: null }
/** Tried again by the schedule, which is a minute for all. */
const retried = { deliveryStatus: 'retrying', next: 60 }
const dead = { outcome: 'status', deliveryStatus: 'dead_letter', next: null }
/** Long enough for a connection to open on a busy machine. */
const soon = { timeoutMs: 3_000 }

async function check(rows: Row[]): Promise<void> {
  const targets = rows.map(([, url, , more]): Target => ({ url, timeoutMs: 60_000, ...more }))
  const fates = await attempts.attempt(targets)
  const found = rows.map(([what, , expected], n) => {
    const fate: Partial<Fate> = fates[n] ?? {}
    const keys = Object.keys(expected)
    return [what, Object.fromEntries(Object.entries(fate).filter(([key]) => keys.includes(key)))]
  })
  expect(found).toEqual(rows.map(([what, , expected]) => [what, expected]))
}

Deno.test('each status has its outcome', async () => {
  await using receiver = closing(startReceiver())
  const at = (path: string): string => receiver.url + path
  await check([
    ['200', at('/status/200'), { ...delivered, status: 200, response: 'as asked' }],
    ['202', at('/status/202'), { ...delivered, status: 202 }],
    ['204', at('/status/204'), { ...delivered, status: 204, response: null }],
    ['299', at('/status/299'), { ...delivered, status: 299 }],
    ['103, then 200', at('/interim'), { ...delivered, status: 200, response: 'ok' }],
    ['103 alone', at('/only/103'), { outcome: 'timeout', status: null, ...retried }, soon],
    ['100 unasked, then 200', at('/interim/100'), { ...delivered, status: 200, response: 'ok' }],
    ['100 alone', at('/only/100'), { outcome: 'timeout', status: null, ...retried }, soon],
    ['101 unasked', at('/only/101'), { outcome: 'protocol', status: null, ...retried }],
    ['300', at('/status/300?location=/a'), { outcome: 'redirect', status: 300, ...retried }],
    ['301', at('/status/301?location=/a'), { outcome: 'redirect', status: 301, ...retried }],
    ['302', at('/status/302?location=/a'), { outcome: 'redirect', status: 302, ...retried }],
    ['304', at('/status/304'), { outcome: 'redirect', status: 304, ...retried }],
    ['307', at('/status/307?location=/a'), { outcome: 'redirect', status: 307, ...retried }],
    ['308, no location', at('/status/308'), { outcome: 'redirect', status: 308, ...retried }],
    ['400', at('/status/400'), { ...dead, status: 400, response: 'as asked' }],
    ['401', at('/status/401'), { ...dead, status: 401 }],
    ['404', at('/status/404'), { ...dead, status: 404 }],
    ['408', at('/status/408'), { outcome: 'status', status: 408, ...retried }],
    ['410', at('/status/410'), { outcome: 'status', status: 410, deliveryStatus: 'held' }],
    ['413', at('/status/413'), { ...dead, status: 413 }],
    ['418', at('/status/418'), { ...dead, status: 418 }],
    ['425', at('/status/425'), { outcome: 'status', status: 425, ...retried }],
    ['429', at('/status/429'), { outcome: 'status', status: 429, ...retried }],
    ['500', at('/status/500'), { outcome: 'status', status: 500, ...retried }],
    ['502', at('/status/502'), { outcome: 'status', status: 502, ...retried }],
    ['503', at('/status/503'), { outcome: 'status', status: 503, ...retried }],
    ['599', at('/status/599'), { outcome: 'status', status: 599, ...retried }],
    ['999', at('/status/999'), { outcome: 'status', status: 999, ...retried }],
  ])
  expect(receiver.received.map(({ path }) => path)).not.toContain('/a')
})

Deno.test('each form of Retry-After slows the endpoint down as far as it may', async () => {
  await using receiver = closing(startReceiver())
  const inSeconds = (s: number): string => new Date(attempts.now.getTime() + s * 1000).toUTCString()
  const forms: [what: string, header: string, next: number][] = [
    ['seconds', '120', 120],
    ['a fraction', '90.5', 90.5],
    ['blanks around', '%20 100 %20', 100],
    ['less than the schedule', '5', 60],
    ['zero', '0', 60],
    ['negative', '-120', 60],
    ['more than an hour', '86400', 3600],
    ['far more', '99999999999', 3600],
    ['more digits than any number', '9'.repeat(40), 3600],
    ['a date', inSeconds(300), 300],
    ['a date that is past', inSeconds(-300), 60],
    ['a date in a year', inSeconds(365 * 86_400), 3600],
    ['a date that does not exist', 'Sun, 31 Feb 2027 00:00:00 GMT', 60],
    ['the date form of RFC 850', rfc850(new Date(attempts.now.getTime() + 300_000)), 300],
    ['words', 'soon', 60],
    ['words, and more than is kept', 'later '.repeat(50), 60],
    ['nothing', '', 60],
    ['hexadecimal', '0x78', 60],
    ['two headers', '120&retry-after=500', 120],
  ]
  await check(forms.flatMap(([what, header, next]) =>
    [429, 503].map((status): Row => [
      `${status}, ${what}`,
      `${receiver.url}/status/${status}?retry-after=${header.replaceAll(' ', '%20')}`,
      { outcome: 'status', status, deliveryStatus: 'retrying', next },
    ])
  ))
  await check([
    ['500', `${receiver.url}/status/500?retry-after=120`, { outcome: 'status', ...retried }],
    ['200', `${receiver.url}/status/200?retry-after=120`, delivered],
  ])
})

Deno.test('each way of not answering has its class', async () => {
  await using receiver = closing(startReceiver())
  await using silent = closing(startRaw(rawBehaviours.silent))
  await using closes = closing(startRaw(rawBehaviours.closes))
  await using full = closing(await startFull())
  await using six = closing(startReceiver({ hostname: '::1' }))
  const gone = startReceiver()
  await gone.close()
  const at = (path: string): string => receiver.url + path
  const timeout = { outcome: 'timeout', status: null, ...retried }
  const reset = { outcome: 'reset', status: null, ...retried }
  const protocol = { outcome: 'protocol', status: null, ...retried }
  const connect = { outcome: 'connect', status: null, ...retried }
  const on = (port: number): string => `http://127.0.0.1:${port}/`
  await check([
    ['the connection is never made', on(full.port), connect, soon],
    ['nobody reads', on(silent.port), timeout, soon],
    ['the TLS handshake hangs', `https://receiver.test:${silent.port}/`, connect, soon],
    ['no answer', at('/hang'), timeout, soon],
    ['half a head', at('/hang-head'), timeout, soon],
    ['a head of a byte a second', at('/drip-head'), timeout, soon],
    ['closed at once', on(closes.port), reset],
    ['closed after the request', at('/reset'), reset],
    ['no such name', 'http://nowhere.test/', { outcome: 'dns', ...retried }],
    ['closed port', `${gone.url}/`, { outcome: 'connect', ...retried }],
    ['not HTTP', at('/garbage'), protocol],
    ['a status of two digits', at('/first-line/HTTP%2F1.1%2099%20x'), protocol],
    ['HTTP/3.0', at('/first-line/HTTP%2F3.0%20200%20OK'), protocol],
    ['a head of 200 kB', at('/flood'), { outcome: 'too_large', ...retried }],
    ['5,000 headers', at('/headers'), { outcome: 'too_large', ...retried }],
    ['IPv6 alone', `http://v6.test:${new URL(six.url).port}/`, delivered],
    ['an IPv6 literal', `${six.url}/`, delivered],
    ['an address of the inside', 'http://inside.test/', {
      outcome: 'blocked',
      deliveryStatus: 'dead_letter',
      error: 'The address is not allowed: use a public host',
    }],
  ])
})

Deno.test('each fault of TLS says so and nothing else', async () => {
  await using good = closing(startReceiver({ tls: selfSigned }))
  await using unknown = closing(startReceiver({ tls: untrusted }))
  await using other = closing(startReceiver({ tls: wrongName }))
  await using old = closing(startReceiver({ tls: expired }))
  await using ancient = closing(startRaw(rawBehaviours['tls-1.0']))
  await using alert = closing(startRaw(rawBehaviours['tls-alert']))
  await using plain = closing(startReceiver())
  await using closes = closing(startRaw(rawBehaviours.closes))
  const secure = ({ url }: { url: string }): string =>
    `https://receiver.test:${new URL(url).port}/hook`
  const tls = (words: string): Record<string, unknown> => ({
    outcome: 'tls',
    error: expect.stringContaining(words),
    ...retried,
  })
  await check([
    ['all is well', secure(good), delivered],
    ['signed by nobody known', secure(unknown), tls('not trusted')],
    ['the name of another', secure(other), tls('another host name')],
    ['expired', secure(old), tls('expired')],
    ['TLS 1.0 alone', `https://receiver.test:${ancient.port}/`, tls('old version of TLS')],
    ['no common cipher', `https://receiver.test:${alert.port}/`, tls('no common cipher')],
    ['closed in the handshake', `https://receiver.test:${closes.port}/`, {
      outcome: 'reset',
      ...retried,
    }],
    // It waits for the end of a request, and the sender for a handshake.
    ['no TLS at all', secure(plain), { outcome: 'connect', ...retried }, soon],
  ])
  for (const { received } of [unknown, other, old, plain]) expect(received).toEqual([])
})

Deno.test('each kind of body is kept as far as it goes', async () => {
  await using receiver = closing(startReceiver())
  await using early = closing(startRaw(rawBehaviours.early))
  await using resets = closing(startRaw(rawBehaviours.resets))
  const at = (path: string): string => receiver.url + path
  const b = (n: number): string => 'b'.repeat(n)
  const big = { body: `"${'x'.repeat(250_000)}"` }
  await check([
    ['a drip of 2xx', at('/drip'), { ...delivered, status: 200 }],
    ['2xx cut', at('/cut'), { ...delivered, response: '0123456789' }],
    ['5xx cut', at('/cut/500'), { outcome: 'status', ...retried, response: '0123456789' }],
    ['2xx of 50 MB', at('/big/50000000'), { ...delivered, response: b(256) }],
    ['5xx of 50 MB', at('/big/50000000/500'), { outcome: 'status', response: b(4096), ...retried }],
    ['endless 2xx', at('/endless'), { ...delivered, response: 'e'.repeat(256) }],
    ['endless 5xx', at('/endless/500'), { outcome: 'status', ...retried, lossy: null }],
    ['chunks that are none, 2xx', at('/bad-chunk'), { ...delivered, status: 200 }],
    ['chunks that are none, 5xx', at('/bad-chunk/500'), { outcome: 'status', ...retried }],
    ['any bytes', at('/bytes'), { ...delivered, response: 'a\ufffd\ufffd(b', lossy: true }],
    ['any bytes, 5xx', at('/bytes/500'), { outcome: 'status', lossy: true, ...retried }],
    ['a gzip bomb', at('/gzip'), { ...delivered, response: '0'.repeat(256) }],
    ['a gzip bomb, 4xx', at('/gzip/400'), {
      ...dead,
      status: 400,
      response: '0'.repeat(4_096),
    }],
    ['two lengths', at('/two-lengths'), { ...delivered, status: 200, response: null }],
    ['a length that is none, 410', at('/bad-length/410'), {
      outcome: 'status',
      status: 410,
      deliveryStatus: 'held',
    }],
    ['a length and chunks', at('/two-framings'), { ...delivered, status: 200 }],
    ['an answer before the request is read', `http://127.0.0.1:${early.port}/`, {
      ...dead,
      status: 413,
      response: 'too large',
    }],
    [
      'the same to a large request',
      `http://127.0.0.1:${early.port}/`,
      { ...dead, status: 413 },
      big,
    ],
    [
      'a reset while a large request is sent',
      `http://127.0.0.1:${resets.port}/`,
      { outcome: 'reset', status: null, ...retried },
      big,
    ],
  ])
  // It ends with the timeout, so its head must come before: nothing else runs beside it.
  await check([['a drip of 5xx', at('/drip/500'), { outcome: 'status', status: 500, ...retried }, {
    timeoutMs: 6_000,
  }]])
})

Deno.test('a request that finds its kept connection closed is sent again on a fresh one', async () => {
  await using receiver = closing(startReceiver())
  const target = (path: string): Target => ({
    url: receiver.url + path,
    timeoutMs: 60_000,
    name: path,
  })
  // Closed while nothing was under way: the next request takes a new connection.
  const [first] = await attempts.attempt([target('/close-after')])
  expect(await waitUntil(() => receiver.connections.open === 0, { timeoutMs: patienceMs })).toBe(
    true,
  )
  const [second] = await attempts.attempt([target('/stale')])
  expect([first?.outcome, second?.outcome]).toEqual(['delivered', 'delivered'])
  expect(receiver.connections.accepted).toBe(2)
  // Closed over the second request.
  const [again] = await attempts.attempt([target('/stale')])
  expect(again).toMatchObject({ outcome: 'delivered', status: 200, resent: true })
  expect(receiver.connections.accepted).toBe(3)
})

/** As senders wrote dates before RFC 1123: with the whole weekday and two digits of the year. */
function rfc850(date: Date): string {
  const weekday = date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
  const [, day, month, year = '', time] = date.toUTCString().split(' ')
  return `${weekday}, ${day}-${month}-${year.slice(2)} ${time} GMT`
}

function closing<T extends { close(): void | Promise<void> }>(thing: T): T & AsyncDisposable {
  return { ...thing, [Symbol.asyncDispose]: () => Promise.resolve(thing.close()) }
}
