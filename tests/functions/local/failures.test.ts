import { expect } from '@std/expect'
import { backoffMs } from '../../../supabase/local/functions/backoff.ts'
import { failureReason, silentReason } from '../../../supabase/local/functions/failure.ts'
import { fetchProblem } from '../../../supabase/local/packages/problem.ts'
import { oldNode } from '../../../supabase/local/packages/node_version.ts'

const where = { cacheDir: '/cache', cacheVariable: 'DENO_DIR' }

Deno.test('fetchProblem() names the cause and the remedy of what could not be fetched', () => {
  const said: [text: string, sentence: RegExp][] = [
    ['tunnel error: 407 Proxy Authentication Required', /^The proxy requires .*HTTPS_PROXY/],
    [
      'invalid peer certificate: UnknownIssuer',
      /^The package registry has a certificate .*NODE_EXTRA_CA_CERTS/,
    ],
    ['No space left on device (os error 28)', /^The disk of \/cache is full: .*DENO_DIR$/m],
    [
      'Permission denied (os error 13)',
      /^The cache folder \/cache is not writable: .*DENO_DIR$/m,
    ],
    ['HTTP status 403 Forbidden', /^The package registry refuses this user/],
    ["npm package 'x' does not exist", /^The package registry does not have a required package/],
    ['error sending request for url: dns error', /^The package registry cannot be reached/],
  ]
  for (const [text, sentence] of said) expect(fetchProblem(text, where)).toMatch(sentence)
  expect(fetchProblem('SyntaxError: what a module says of itself', where)).toBe(null)
})

Deno.test('fetchProblem() shows three telling lines at most, and no password', () => {
  const line = (n: number): string => `error ${n}: http://user:hidden@proxy.example answered 407`
  const text = ['Download https://packages.example/407', ...[1, 2, 3, 4].map(line)].join('\n')
  const lines = fetchProblem(text, where)?.split('\n') ?? []
  expect(lines.slice(1)).toEqual(
    [1, 2, 3].map((n) => `  error ${n}: http://proxy.example answered 407`),
  )
})

Deno.test('failureReason() names the remedy, and shows three lines without the stack', () => {
  const lines = [
    '\terror: Uncaught Error: first',
    '    at file:///a.ts:1:7',
    '          ^',
    'second',
    'third',
    'fourth',
  ]
  expect(failureReason('code 1', lines)).toBe(
    'its code failed while it was loaded: correct it (code 1)\n' +
      '  error: Uncaught Error: first\n  second\n  third',
  )
  expect(failureReason('code 1', ['error: Module not found "x"'])).toMatch(
    /^a module .* is missing/,
  )
  expect(
    failureReason('code 1', ['error: npm package not found in cache, --cached-only is specified']),
  )
    .toMatch(/^a package .* stop the stack and start it again/)
  expect(failureReason('SIGKILL', ['half a line'])).toBe(
    'another program ended its process (SIGKILL)',
  )
})

Deno.test('silentReason() names the limit, and shows what the function has printed', () => {
  expect(silentReason(20_000, ['connecting', '', 'still waiting'])).toBe(
    'it did not listen within 20 s: its module must call Deno.serve(), and must not wait long ' +
      'before that\n  connecting\n  still waiting',
  )
})

Deno.test('backoffMs() waits a quarter of a second, twice as long each time, half a minute at most', () => {
  expect([1, 2, 3, 7, 8, 9, 50].map(backoffMs))
    .toEqual([250, 500, 1_000, 16_000, 30_000, 30_000, 30_000])
})

Deno.test('oldNode() refuses what is older than 20', () => {
  expect(oldNode('npm/9.2.0 node/v19.9.0 linux x64 workspaces/false')).toMatch(
    /^Node\.js 19\.9\.0 .* 20 or newer$/,
  )
  expect(oldNode('npm/10.0.0 node/v20.0.0 linux x64 workspaces/false')).toBe(null)
  expect(oldNode('npm/10.0.0 node/v100.0.0 linux x64 workspaces/false')).toBe(null)
  expect(oldNode(undefined)).toBe(null)
})
