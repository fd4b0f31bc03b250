/** The console on a host of its own, behind a login, with the token of a user. */

import { expect } from '@std/expect'
import type { Browser } from 'playwright-core'
import { buildHosted } from '../../console/build/hosted.ts'
import type { StaticFile } from '../../console/build/build.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { patienceMs } from '../_support/patience.ts'
import { findingsOf } from './_support/axe.ts'
import { openTab, startBrowser } from './_support/browser.ts'

/** A host of static files with a login: it gives the token of whoever is logged in. */
interface Host {
  url: string
  /** The claims of the next token; null: nobody is logged in. */
  user: Record<string, unknown> | null
  /** Seconds from now, if not an hour. The API takes a token for 30 s more, because clocks differ. */
  expiresIn: number | null
  tokens: number
  /** Whether the host fails to serve `/token.js`. */
  isScriptDown: boolean
  stop(): Promise<void>
}

let outhook: TestOuthook
let browser: Browser
let host: Host
let files: Map<string, StaticFile>

function startHost(): Host {
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen(): void {} },
    async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/console-token') {
        if (host.user === null) return new Response('', { status: 401 })
        host.tokens++
        const iss = `${outhook.stack.apiUrl}/auth/v1`
        const { expiresIn } = host
        const exp = expiresIn === null ? {} : { exp: Math.floor(Date.now() / 1000) + expiresIn }
        const token = await outhook.stack.keys.signUserJwt({ iss, ...host.user, ...exp })
        return Response.json({ token })
      }
      if (pathname === '/token.js' && host.isScriptDown) return new Response('', { status: 503 })
      if (pathname === '/login') {
        const next = new URL(request.url).searchParams.get('next') ?? ''
        return new Response(
          `<h1>Log in</h1><a href="${next.replaceAll('&', '&amp;')}">Go on</a>`,
          html,
        )
      }
      if (pathname === '/framing') return new Response('<iframe src="/events"></iframe>', html)
      const file = files.get(pathname) ?? files.get('/index.html')
      return new Response(file?.bytes ?? null, { headers: { 'content-type': file?.type ?? '' } })
    },
  )
  return {
    ...{ url: `http://127.0.0.1:${server.addr.port}`, user: null, expiresIn: null, tokens: 0 },
    isScriptDown: false,
    stop: () => server.shutdown(),
  }
}

const html = { headers: { 'content-type': 'text/html' } }

/** It has what a replacement of texts could expand. */
const login = '/login?back=$&&next={path}'

Deno.test.beforeAll(async () => {
  host = startHost()
  outhook = await startOuthook({
    only: ['deliver', 'api'],
    env: { OUTHOOK_API_CORS_ORIGINS: host.url },
  })
  files = await buildHosted(projectRoot, {
    ...{ api: outhook.stack.apiUrl, functionName: 'api' },
    ...{ tokenPath: '/console-token', signIn: login },
  })
  browser = await startBrowser()
})
Deno.test.afterAll(async () => {
  await browser?.close()
  await outhook?.stop()
  await host?.stop()
})

Deno.test('a user sees what the scopes of the token allow, in the organisation of the token', async () => {
  const { id } = await outhook.createEndpoint('/status/404', {
    ...{ p_event_types: ['order.*'], p_org_id: 'org-host', p_description: 'The shop' },
    p_filter: '$.id > 0',
  })
  const [event] = await outhook.sql`
    select outbox.publish('order.paid', '{"id": 1}', p_org_id => 'org-host') as id`
  await outhook.attemptsOf(event?.id)
  host.user = {
    app_metadata: {
      org_id: 'org-host',
      outhook_scopes: ['events:read', 'deliveries:read', 'endpoints:read'],
    },
  }
  const { page, errors, close } = await openTab(browser)
  const refused: string[] = []
  const keys: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  page.on('request', (request) => keys.push(request.headers()['apikey'] ?? ''))
  await page.goto(`${host.url}/endpoints`)
  await page.getByText('The shop').waitFor()
  const links = page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link')
  expect(await links.allTextContents())
    .toEqual(['Overview', 'Events', 'Endpoints', 'Dead letters', 'Replay jobs'])
  expect(await page.getByLabel('Organisation').inputValue()).toBe('org-host')
  expect(new URL(page.url()).search).toBe('')
  // Nothing of what the token does not allow.
  await page.goto(`${host.url}/endpoints/${id}`)
  await page.getByRole('heading', { name: 'Retries' }).waitFor()
  await page.getByRole('link', { name: 'Deliveries' }).waitFor()
  await page.getByRole('button', { name: 'Try on recent events' }).waitFor()
  for (const name of ['Pause', 'Send test event', 'Save', 'Show secret', 'Rotate secret']) {
    expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
  }
  await page.goto(`${host.url}/events/${event?.id}`)
  await page.getByText('Attempt 1 failed').waitFor()
  expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
  await page.goto(`${host.url}/dead-letters`)
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  expect(await page.getByRole('button', { name: 'Replay all that match' }).count()).toBe(0)
  expect(await page.getByRole('checkbox').count()).toBe(0)
  await page.goto(`${host.url}/`)
  await page.getByText('Endpoints with work').waitFor()
  for (const path of ['/settings', '/messages', '/channels', '/consumers', '/audit', '/sagas']) {
    await page.goto(`${host.url}${path}`)
    await page.getByRole('heading', { name: 'You may not open this page' }).waitFor()
  }
  await page.getByText('Your login needs the scope sagas:read.').waitFor()
  expect(await findingsOf(page)).toEqual([])
  expect(refused).toEqual([])
  expect(keys.filter((key) => key !== '')).toEqual([])
  const stored = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  expect(stored).toBe('[{},{},""]')
  expect(errors).toEqual([])
  await close()
})

Deno.test('a token that ends is renewed, and after the end of the login the page says so', async () => {
  const scopes = { org_id: 'org-host', outhook_scopes: ['all'] }
  host.user = { app_metadata: scopes }
  host.expiresIn = 1
  const before = host.tokens
  const { page, errors, close } = await openTab(browser)
  await page.goto(`${host.url}/events`)
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  // Before its end the token is replaced, without a word.
  await tokensSince(before, 2)
  // The last token is refused soon.
  host.expiresIn = -24
  await tokensSince(host.tokens, 2)
  // Now the login ends, and with it the renewal.
  host.user = null
  await page.getByText('You are signed out. What is shown was read before that.').waitFor({
    timeout: patienceMs,
  })
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  expect(await findingsOf(page)).toEqual([])
  // Somebody who has logged in elsewhere goes on here.
  host.user = { app_metadata: scopes }
  host.expiresIn = null
  await page.getByRole('alert').filter({ hasText: 'You are signed out' })
    .getByRole('button', { name: 'Sign in again' }).click()
  await page.getByText('You are signed out').first().waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('a visitor who is not logged in is sent to the login, and comes back to the page', async () => {
  host.user = null
  const { page, close } = await openTab(browser)
  await page.goto(`${host.url}/endpoints?show=paused&org=org-host`)
  await page.getByRole('heading', { name: 'The console is locked' }).waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  const place = '/endpoints?show=paused&org=org-host'
  expect(page.url()).toBe(host.url + login.replace('{path}', () => encodeURIComponent(place)))
  host.user = { app_metadata: { org_id: 'org-host', outhook_scopes: ['all'] } }
  await page.getByRole('link', { name: 'Go on' }).click()
  await page.getByRole('heading', { name: 'No endpoint is paused' }).waitFor()
  await close()
})

Deno.test('a page stays in the organisation of its address, whatever comes first in the token', async () => {
  await outhook.createEndpoint('/ok', {
    ...{ p_event_types: ['two.*'], p_org_id: 'org-two', p_description: 'The second' },
  })
  await outhook.sql`select outbox.publish('two.made', '{}', p_org_id => 'org-two')`
  host.user = { app_metadata: { ...both, org_id: 'org-host' } }
  host.expiresIn = 1
  const { page, errors, close } = await openTab(browser)
  const asked = new Set<string>()
  page.on('request', (request) => {
    const isCall = request.url().includes('/v1/') && request.method() !== 'OPTIONS'
    if (isCall) asked.add(request.headers()['x-org-id'] ?? 'none')
  })
  const pages = page.getByRole('navigation', { name: 'Pages', exact: true })
  await page.goto(`${host.url}/endpoints?org=org-two`)
  await page.getByText('The second').waitFor()
  // Also after the token was renewed, and with it what it allows.
  await tokensSince(host.tokens, 2)
  await pages.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByRole('link', { name: 'two.made' }).waitFor()
  expect(new URL(page.url()).search).toBe('?org=org-two')
  expect(await page.getByLabel('Organisation').inputValue()).toBe('org-two')
  expect([...asked]).toEqual(['org-two'])
  // The field changes it, and the links follow.
  await page.getByLabel('Organisation').fill('org-host')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  await pages.getByRole('link', { name: 'Endpoints', exact: true }).click()
  await page.getByText('The shop').waitFor()
  expect(new URL(page.url()).search).toBe('?org=org-host')
  expect(errors).toEqual([])
  await close()
})

Deno.test('a user of several organisations enters the one to open', async () => {
  host.user = { app_metadata: both }
  host.expiresIn = null
  const { page, errors, close } = await openTab(browser)
  await page.goto(`${host.url}/events`)
  await page.getByRole('heading', { name: 'The console does not open yet' }).waitFor()
  await page.getByText('Your login belongs to several organisations').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByLabel('Organisation').fill('org-host')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  expect(new URL(page.url()).search).toBe('?org=org-host')
  expect(errors).toEqual([])
  await close()
})

Deno.test('a user who may read consents alone opens people and dossiers, and no list', async () => {
  host.user = { app_metadata: { org_id: 'org-host', outhook_scopes: ['consents:read'] } }
  host.expiresIn = null
  const { page, errors, close } = await openTab(browser)
  await page.goto(`${host.url}/`)
  await page.getByLabel('History of a person or a dossier').waitFor()
  expect(new URL(page.url()).pathname).toBe('/messages')
  expect(await findingsOf(page)).toEqual([])
  // The help has no key of a page that may not be opened.
  await page.keyboard.press('?')
  const help = await page.getByRole('dialog').locator('dl > div').allTextContents()
  expect(help.filter((row) => /^g[a-z]/.test(row))).toEqual(['gmMessages'])
  for (
    const [path, heading] of [
      ['/dossiers/none', 'Nothing is stored of this dossier'],
      ['/inbound', 'You may not open this page'],
    ] as const
  ) {
    await page.goto(host.url + path)
    await page.getByRole('heading', { name: heading }).waitFor()
  }
  const asked = page.waitForResponse(/\/v1\/people\//)
  await page.goto(`${host.url}/people/%2B12025550999`)
  expect((await asked).status()).not.toBe(403)
  expect(errors).toEqual([])
  await close()
})

Deno.test('a login goes on after the host could not serve its script for a while', async () => {
  host.user = { app_metadata: { ...both, org_id: 'org-host' } }
  host.isScriptDown = true
  const { page, close } = await openTab(browser)
  await page.goto(`${host.url}/events`)
  await page.getByRole('heading', { name: 'The console is locked' }).waitFor()
  const again = page.getByRole('button', { name: 'Sign in again' })
  await again.click()
  await page.getByText('The host of this page does not say where to log in.').waitFor()
  host.isScriptDown = false
  await again.click()
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  await close()
})

Deno.test('the console does not open in a frame of another page', async () => {
  host.user = { app_metadata: { ...both, org_id: 'org-host' } }
  const { page, close } = await openTab(browser)
  await page.goto(`${host.url}/framing`)
  const frame = page.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'The console does not open in a frame' }).waitFor()
  expect(await frame.getByRole('link').count()).toBe(0)
  await close()
})

Deno.test('the build refuses a path of tokens that a browser reads as another host', async () => {
  for (
    const [more, error] of [
      [['--api', 'x'], '--api is "x": expected a URL'],
      [['--token-path', 't'], '--token-path is "t": expected a path'],
      [['--token-path', '//evil.example/t'], '--token-path is "//evil.example/t": expected a path'],
      [['--token-path', '/\\evil.example/t'], 'expected a path'],
      [['--sign-in', ''], '--sign-in is "": expected where one logs in'],
    ] as const
  ) {
    const { code, errors } = await build('--out', Deno.makeTempDirSync(), ...more)
    expect([code, errors]).toEqual([1, expect.stringContaining(error)])
  }
})

Deno.test('the build keeps your token.js, removes old assets and forbids frames', async () => {
  const out = await Deno.makeTempDir()
  await Deno.mkdir(`${out}/assets`)
  await Deno.writeTextFile(`${out}/assets/old-chunk.js`, '')
  await Deno.writeTextFile(`${out}/token.js`, 'mine')
  const { code, errors } = await build('--out', out)
  expect([code, errors]).toEqual([0, ''])
  expect(await Deno.readTextFile(`${out}/token.js`)).toBe('mine')
  const assets = [...Deno.readDirSync(`${out}/assets`)].map(({ name }) => name)
  expect(assets).toContain('main.js')
  expect(assets).not.toContain('old-chunk.js')
  expect(await Deno.readTextFile(`${out}/_headers`)).toContain("frame-ancestors 'none'")
  expect(await Deno.readTextFile(`${out}/index.html`)).toContain('content-security-policy')
  await Deno.remove(out, { recursive: true })
})

const both = { org_ids: ['org-host', 'org-two'], outhook_scopes: ['all'] }

/** Waits until the host has given so many more tokens. */
async function tokensSince(before: number, count: number): Promise<void> {
  const isDone = (): boolean => host.tokens >= before + count
  if (!await waitUntil(isDone, { timeoutMs: patienceMs })) throw new Error('no token was asked for')
}

/** Runs `console:build`; later flags count. */
async function build(...more: readonly string[]): Promise<{ code: number; errors: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      ...['run', '-A', '--cached-only', '--no-check', 'console/build/main.ts'],
      ...['--api', 'https://a.example', '--sign-in', '/login', ...more],
    ],
    cwd: projectRoot,
  })
  const { code, stderr } = await command.output()
  return { code, errors: new TextDecoder().decode(stderr) }
}
