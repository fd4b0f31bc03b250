import type { ClientName, Round } from './run.ts'

/** A comparison of clients that send the same POSTs. */
export interface Scenario {
  name: string
  clients: readonly ClientName[]
  /** Which origins of the receiver; `gunicorn` is another one. */
  origins: 'plain' | 'plain, one' | 'tls' | 'tls, one' | 'http2' | 'gunicorn'
  path: string
  /** Without `posts`, which the options say. */
  round: Omit<Round, 'posts'>
  /** How many POSTs a round has, for the option `--posts`. */
  count(posts: number): number
}

const four = ['ours', 'undici', 'fetch', 'node:http'] as const
const overTls = ['ours', 'node:http2', 'fetch, HTTP/2'] as const
const steady = { path: '/', count: (posts: number) => posts }

export const scenarios: readonly Scenario[] = [
  {
    ...steady,
    name: 'plain, one origin',
    clients: four,
    origins: 'plain, one',
    round: { slots: 64, targets: 1 },
  },
  {
    ...steady,
    name: 'plain, 1,000 origins',
    clients: four,
    origins: 'plain',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'plain, 1,000 endpoints on one origin',
    clients: ['ours'],
    origins: 'plain, one',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'TLS, one origin',
    clients: four,
    origins: 'tls, one',
    round: { slots: 64, targets: 1 },
  },
  {
    ...steady,
    name: 'TLS, 1,000 origins',
    clients: four,
    origins: 'tls',
    round: { slots: 64, targets: 1_000 },
  },
  {
    ...steady,
    name: 'TLS, 1,000 endpoints on one origin',
    clients: ['ours'],
    origins: 'tls, one',
    round: { slots: 64, targets: 1_000 },
  },
  ...overHttp2('at once', '/', { 1: 0.25, 64: 1 }),
  ...overHttp2('after 20 ms', '/slow', { 1: 0.01, 64: 0.5 }),
  {
    name: 'HTTP/2, the first 64 of a new client',
    clients: overTls,
    origins: 'http2',
    path: '/',
    round: { slots: 64, targets: 1, isCold: true },
    count: () => 64,
  },
  {
    name: 'recycling',
    clients: four,
    origins: 'gunicorn',
    path: '/',
    round: { slots: 8, targets: 1, pauses: { ms: 40, longEach: 50, longMs: 1_000 } },
    count: (posts) => posts / 10,
  },
]

/** One receiver that speaks HTTP/2, which responds at `when`; `shares` by the POSTs in flight. */
function overHttp2(when: string, path: string, shares: Record<number, number>): Scenario[] {
  return Object.entries(shares).map(([slots, share]) => ({
    name: `HTTP/2, ${slots} in flight, ${when}`,
    clients: overTls,
    origins: 'http2',
    path,
    round: { slots: Number(slots), targets: 1 },
    count: (posts) => posts * share,
  }))
}
