/** The console on a host of its own, behind a login, with the token of a user. */

import { expect } from '@std/expect'
import type { Browser } from 'playwright-core'
import { buildHosted } from '../../console/build/hosted.ts'
import type { StaticFile } from '../../console/build/build.ts'
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
      if (pathname === '/login') return new Response('<h1>Log in</h1>', html)
      const file = files.get(pathname) ?? files.get('/index.html')
      return new Response(file?.bytes ?? null, { headers: { 'content-type': file?.type ?? '' } })
    },
  )
  return {
    ...{ url: `http://127.0.0.1:${server.addr.port}`, user: null, expiresIn: null, tokens: 0 },
    stop: () => server.shutdown(),
  }
}

const html = { headers: { 'content-type': 'text/html' } }

Deno.test.beforeAll(async () => {
  host = startHost()
  outhook = await startOuthook({
    only: ['deliver', 'api'],
    env: { OUTHOOK_API_CORS_ORIGINS: host.url },
  })
  files = await buildHosted(projectRoot, {
    ...{ api: outhook.stack.apiUrl, functionName: 'api' },
    ...{ tokenPath: '/console-token', signIn: '/login' },
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
  await page.getByRole('button', { name: 'Try on recent events' }).waitFor({ state: 'detached' })
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
    await page.getByRole('heading', { name: 'This page is not for you' }).waitFor()
  }
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
  host.expiresIn = -24
  const before = host.tokens
  const { page, errors, close } = await openTab(browser)
  await page.goto(`${host.url}/events`)
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
  // Before its end the token is replaced, without a word.
  await page.waitForResponse(/console-token/)
  expect(host.tokens).toBeGreaterThanOrEqual(before + 2)
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

Deno.test('who is not logged in gets to the login', async () => {
  host.user = null
  const { page, close } = await openTab(browser)
  await page.goto(`${host.url}/events`)
  await page.getByRole('heading', { name: 'The console is locked' }).waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await close()
})

Deno.test('a path that is not of the same host is no place for tokens', async () => {
  const command = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--cached-only', '--no-check', 'console/build/main.ts', '--api', 'x'],
    cwd: projectRoot,
  })
  const { code, stderr } = await command.output()
  expect([code, new TextDecoder().decode(stderr)]).toEqual([
    1,
    expect.stringContaining('--api is "x": expected a URL'),
  ])
})
