/** The check of a channel against the Graph API of the tests: each fault with its remedy. */

import { expect } from '@std/expect'
import type { ChannelAccess } from '../../../../functions/api/channel_check/access.ts'
import type { ChannelFindings } from '../../../../functions/api/channel_check/check.ts'
import { lazyChannelCheck } from '../../../../functions/api/channel_check/load.ts'
import type { GraphFacts } from '../../../../supabase/local/whatsapp/number.ts'
import { type Graph, startGraph } from '../../../../supabase/local/whatsapp/graph.ts'

const now = Date.UTC(2026, 0, 1)
const template = {
  name: 'appointment_reminder',
  language: 'fr',
  status: 'APPROVED',
  category: 'UTILITY',
  parameter_format: 'POSITIONAL',
}

let graph: Graph

/** Runs a test with a Graph API of its own, whose number 101 is set up. */
function testCheck(name: string, body: () => Promise<void>): void {
  Deno.test(`checkChannel() ${name}`, async () => {
    graph = startGraph({
      numbers: { 101: { token: 'token-101', account: '901', app: '1', templates: [template] } },
    })
    try {
      await body()
    } finally {
      await graph.close()
    }
  })
}

function access(over: Partial<ChannelAccess> = {}): ChannelAccess {
  return {
    channelId: '0190a000-0000-7000-8000-000000000001',
    graphUrl: graph.url,
    graphVersion: 'v25.0',
    phoneNumberId: '101',
    wabaId: '901',
    appId: '1',
    appKey: 'key-of-app-1-0123456789',
    accessToken: 'token-101',
    templates: [{
      code: 'reminder',
      name: 'appointment_reminder',
      language: 'fr',
      category: 'UTILITY',
      parameterFormat: 'POSITIONAL',
    }],
    ...over,
    egress: {
      allow_http: true,
      allow_cidrs: ['127.0.0.0/8'],
      allow_ports: ['80', '443', '1024-65535'],
      deny_ports: [],
      proxy_url: '',
      ...over.egress,
    },
  }
}

/** Checks with the client that keeps no connection, so that a test leaves none open. */
function check(over: Partial<ChannelAccess> = {}): Promise<ChannelFindings> {
  return lazyChannelCheck({ transport: 'fetch', wallNow: () => now })(access(over))
}

/** The results that are not `ok`, each with its name. */
function faults(findings: ChannelFindings): string[] {
  return findings.filter(({ result }) => result !== 'ok')
    .map(({ name, result, code }) => [name, result, ...code === null ? [] : [code]].join(' '))
}

testCheck('finds no fault in a channel that is set up', async () => {
  const findings = await check()
  expect(findings.map(({ name, result, remedy }) => [name, result, remedy])).toEqual([
    ['token', 'ok', null],
    ['phone_number', 'ok', null],
    ['webhook_subscription', 'ok', null],
    ['templates', 'ok', null],
  ])
})

testCheck('names each fault that Meta tells of, with what to do', async () => {
  const rows: [facts: Partial<GraphFacts>, fault: string, detail: string, remedy: string][] = [
    [
      { scopes: ['whatsapp_business_management'] },
      'token failed',
      'whatsapp_business_messaging',
      'access-token',
    ],
    [{ tokenApp: '2' }, 'token failed', 'another app', 'Create the token for the app'],
    [{ expiresAt: now / 1_000 + 86_400 }, 'token warning', '2026-01-02T00:00:00', 'access-token'],
    [{ status: 'PENDING' }, 'phone_number failed', 'PENDING', '/register'],
    [{ status: 'BANNED' }, 'phone_number failed', 'BANNED', 'WhatsApp Manager'],
    [{ quality: 'RED' }, 'phone_number warning', 'RED', 'fewer messages'],
    [{ subscribed: ['2'] }, 'webhook_subscription failed', 'not subscribed', '/subscribed_apps'],
    [{ templates: [] }, 'templates failed', 'Not in the account: reminder', 'PUT /templates'],
    [
      { templates: [{ ...template, status: 'PAUSED' }] },
      'templates failed',
      'reminder (PAUSED)',
      'WhatsApp Manager',
    ],
    [
      { templates: [{ ...template, category: 'MARKETING' }] },
      'templates failed',
      'MARKETING',
      'which consent',
    ],
    [
      { templates: [{ ...template, parameter_format: 'NAMED' }] },
      'templates failed',
      'NAMED',
      'PUT /templates',
    ],
    [
      { templates: [{ ...template, language: 'en' }] },
      'templates failed',
      'Not in the account',
      'PUT /templates',
    ],
  ]
  const sound = {
    scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    tokenApp: '1',
    expiresAt: 0,
    status: 'CONNECTED',
    quality: 'GREEN',
    subscribed: ['1'],
    templates: [template],
  }
  for (const [facts, fault, detail, remedy] of rows) {
    graph.setFacts('101', { ...sound, ...facts })
    const findings = await check()
    expect([facts, faults(findings)]).toEqual([facts, [fault]])
    const [name] = fault.split(' ')
    const found = findings.find((one) => one.name === name)
    expect([facts, found?.detail, found?.remedy])
      .toEqual([facts, expect.stringContaining(detail), expect.stringContaining(remedy)])
  }
})

testCheck('finds a template beyond the first page', async () => {
  const others = Array.from({ length: 600 }, (_, n) => ({ ...template, name: `other_${n}` }))
  graph.setFacts('101', { templates: [...others, template] })
  expect(faults(await check())).toEqual([])
})

testCheck('reports an invalid token for each part that needs it, and never shows it', async () => {
  const findings = await check({ accessToken: 'token-999' })
  expect(faults(findings)).toEqual([
    'token failed',
    'phone_number failed 190',
    'webhook_subscription failed 190',
    'templates failed 190',
  ])
  expect(JSON.stringify(findings)).not.toContain('token-999')
})

testCheck('shows no token that Meta repeats', async () => {
  const body = { error: { message: 'Malformed access token token-101', code: 190 } }
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    () => Response.json(body, { status: 401 }),
  )
  const findings = await check({ graphUrl: `http://127.0.0.1:${server.addr.port}` })
  await server.shutdown()
  expect(findings[0]).toMatchObject({
    result: 'failed',
    code: '190',
    detail: 'The Graph API refuses with error 190: Malformed access token …',
  })
  expect(JSON.stringify(findings)).not.toContain('token-101')
})

testCheck('names wrong ids of number and account', async () => {
  expect(faults(await check({ phoneNumberId: '102' }))).toEqual(['phone_number failed 100'])
  expect(faults(await check({ wabaId: '902' })))
    .toEqual(['webhook_subscription failed 100', 'templates failed 100'])
})

testCheck('asks nothing without a token', async () => {
  const findings = await check({ accessToken: null })
  expect(faults(findings)).toEqual([
    'token failed',
    'phone_number unknown',
    'webhook_subscription unknown',
    'templates unknown',
  ])
  expect(findings[0]?.detail).toContain('Vault')
})

testCheck('dials no address that egress forbids', async () => {
  for (const transport of ['http1', 'fetch'] as const) {
    const forbidden = access({ egress: { ...access().egress, allow_cidrs: [] } })
    const findings = await lazyChannelCheck({ transport, wallNow: () => now })(forbidden)
    expect(faults(findings)).toEqual([
      'token unknown',
      'phone_number unknown',
      'webhook_subscription unknown',
      'templates unknown',
    ])
    expect(findings[0]?.detail).toContain('not allowed')
  }
})

testCheck('knows nothing while the Graph API does not respond', async () => {
  const { url } = graph
  await graph.close()
  const findings = await check({ graphUrl: url })
  expect(new Set(findings.map(({ result }) => result))).toEqual(new Set(['unknown']))
  expect(findings[0]?.detail).toContain('cannot be reached')
})

/** Checks against a server that responds like this. */
async function checkAgainst(
  respond: (url: URL) => Response | Promise<Response>,
  checkMs?: number,
): Promise<ChannelFindings> {
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    (request) => respond(new URL(request.url)),
  )
  const options = { transport: 'fetch', wallNow: () => now } as const
  const checked = lazyChannelCheck(checkMs === undefined ? options : { ...options, checkMs })
  const findings = await checked(access({ graphUrl: `http://127.0.0.1:${server.addr.port}` }))
  await server.shutdown()
  return findings
}

testCheck('knows nothing if a response has another form, or is no JSON', async () => {
  const unknown = ['token', 'phone_number', 'webhook_subscription', 'templates']
    .map((name) => `${name} unknown`)
  for (const body of ['{}', '[]', '{"data": 1}', '"ok"', '<html>', '']) {
    const findings = await checkAgainst(() => new Response(body))
    expect([body, faults(findings)]).toEqual([body, unknown])
    for (const { detail, remedy } of findings) {
      expect(detail).toMatch(/does not have the expected form|nothing that can be read/)
      expect(remedy).toContain('whatsapp.graph_url')
    }
  }
})

testCheck('ends a request at its time limit', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>()
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    async () => (await promise).clone(),
  )
  const checked = lazyChannelCheck({ transport: 'fetch', checkMs: 200, wallNow: () => now })
  const begun = performance.now()
  const findings = await checked(access({ graphUrl: `http://127.0.0.1:${server.addr.port}` }))
  expect(new Set(findings.map(({ result }) => result))).toEqual(new Set(['unknown']))
  expect(findings[0]?.detail).toContain('cannot be reached')
  // One request alone may take 8 s.
  expect(performance.now() - begun).toBeLessThan(6_000)
  resolve(Response.json({}))
  await server.shutdown()
})

testCheck('ends after its time limit, however many pages there are', async () => {
  let pages = 0
  const findings = await checkAgainst(async ({ pathname }) => {
    if (!pathname.endsWith('/message_templates')) return Response.json({})
    pages++
    await new Promise((resolve) => setTimeout(resolve, 120))
    return Response.json({ data: [], paging: { next: 'x', cursors: { after: `${pages}` } } })
  }, 200)
  expect(pages).toBeLessThanOrEqual(2)
  expect(findings[3]).toMatchObject({ name: 'templates', result: 'unknown', code: null })
})
