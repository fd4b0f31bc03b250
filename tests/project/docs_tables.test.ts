import { expect } from '@std/expect'
import { join } from 'node:path'
import { errorCodes } from '../../functions/api/errors.ts'
import { webhookHeaders } from '../../functions/_shared/signing/headers.ts'
import { scopes } from '../../functions/api/auth/scopes.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../functions/samples.ts'
import { docs, docsTable } from './_docs.ts'

Deno.test('the page on receivers lists the headers of a webhook, all of them and in no other words', () => {
  const sent = webhookHeaders({
    delivery: sampleDelivery(),
    event: sampleEvent({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }),
    endpoint: sampleEndpoint(),
    timestamp: 1614265330,
    signatures: { standard: 'v1,x', simple: 'sha256=x' },
  }).filter((_, index) => index % 2 === 0)
  expect(docsTable('docs/receivers.md', 'What arrives').map(([name]) => name).sort()).toEqual(
    sent.sort(),
  )
})

Deno.test('the page of errors lists the SQLSTATEs that the schema raises', async () => {
  const raised = new Set<string>()
  for (const path of await listFiles(projectRoot, 'sql', '.sql')) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    for (const [code] of text.matchAll(/\bOH\d{3}\b/g)) raised.add(code)
  }
  // Caught where it is raised.
  raised.delete('OH000')
  const listed = docsTable('docs/errors.md', 'Errors').map(([code = '']) => code)
  expect(listed.filter((code) => code.startsWith('OH'))).toEqual([...raised].sort())
})

Deno.test('the page of errors lists each code of the API with its status', () => {
  const listed = docsTable('docs/errors.md', 'Codes of the API')
  const codes = Object.entries(errorCodes).map(([code, { status }]) => [code, String(status)])
  expect(listed.map(([code, status]) => [code, status])).toEqual(codes)
  const incomplete = listed.filter(([code, , cause, remedy]) =>
    cause === '' || remedy === '' && code !== 'method_not_allowed'
  )
  expect(incomplete).toEqual([])
})

Deno.test('the README is short, and the index names every page once', () => {
  expect(docs.get('README.md')?.split('\n').length).toBeLessThanOrEqual(250)
  const index = docs.get('docs/README.md') ?? ''
  const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => `docs/${name}`)
  const pages = [...docs.keys()].filter((path) => path !== 'README.md' && path !== 'docs/README.md')
  expect(named.sort()).toEqual(pages)
})

Deno.test('the pages show every picture, and the README shows one', async () => {
  const shown = [...docs].flatMap(([path, page]) =>
    [...page.matchAll(/^!\[[^\]]+\]\((?:docs\/)?(pictures\/[^)]+)\)$/gm)]
      .map(([, name]) => [path, `docs/${name}`] as const)
  )
  expect([...new Set(shown.map(([, name]) => name))].sort())
    .toEqual(await listFiles(projectRoot, 'docs/pictures', '.png'))
  expect(shown.filter(([path]) => path === 'README.md').length).toBe(1)
})

Deno.test('the page of the API lists every scope with what it allows', () => {
  const listed = docsTable('docs/api.md', 'Who may call').filter(([name]) => name?.includes(':'))
  expect(listed).toEqual(Object.entries(scopes))
})

Deno.test('the pages list every route of the API with the scope that it needs', async () => {
  // SAFETY: openapi.test.ts holds the file against the schemas that make it.
  const { paths } = JSON.parse(
    await Deno.readTextFile(join(projectRoot, 'functions/api/openapi.json')),
  ) as { paths: Record<string, Record<string, { 'x-required-scope'?: string }>> }
  const there = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { 'x-required-scope': scope }]) =>
      `${method.toUpperCase()} ${
        path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '{id}')
      } ${scope}`
    )
  ).filter((line) => !line.includes('/webhooks/whatsapp/') && !line.includes('/health'))
  const rows = [
    ...docsTable('docs/api.md', 'Endpoints over HTTP'),
    ...docsTable('docs/api.md', 'Events over HTTP'),
    ...docsTable('docs/api.md', 'Dead letters and replay over HTTP'),
    ...docsTable('docs/messages.md', 'Messages over HTTP'),
  ]
  const listed = rows.flatMap(([routes = '', scope]) =>
    [...`\`${routes}\``.matchAll(/[A-Z]+ \/[^`]+/g)].map(([route]) => `${route} ${scope}`)
  )
  expect(listed.sort()).toEqual(there.sort())
})

Deno.test('the page on metrics lists every series', async () => {
  const files = ['counters', 'gauges', 'module_gauges', 'histograms']
  const texts = await Promise.all(
    files.map((name) => Deno.readTextFile(join(projectRoot, `functions/metrics/${name}.ts`))),
  )
  const bare = (name: string): string => name.replace(/_(total|age_seconds)$/, '')
  const there = texts.flatMap((text) => [...text.matchAll(/'outhook_(\w+)'/g)])
    .map(([, name = '']) => bare(name))
  const listed = docsTable('docs/metrics.md', 'The series').flatMap(([names = '']) =>
    [...`\`${names}\``.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  )
  expect(listed.map(bare).sort()).toEqual(there.sort())
})

Deno.test('the page on the environment lists every variable that is read', async () => {
  const there = new Set([
    ...['EXAMPLE_CONSUMER_SECRET', 'OTEL_SDK_DISABLED', 'OUTHOOK_CONSUME_SECRET'],
    ...['OUTHOOK_LISTEN_SECRET', 'OUTHOOK_TOKEN', 'SUPABASE_SECRET_KEY'],
    ...['OUTHOOK_CONSOLE_FUNCTION', 'OUTHOOK_CONSOLE_SECRET_KEY', 'OUTHOOK_CONSOLE_URL'],
  ])
  const files = [...await listFiles(projectRoot, 'functions', 'env.ts'), 'consumer/access.ts']
  for (const path of files) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    for (const [, name = ''] of text.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)) there.add(name)
  }
  const listed = docsTable('docs/environment.md', 'Environment variables').flatMap(([names = '']) =>
    [...`\`${names}\``.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  )
  const traces = [...docs.get('docs/traces.md')?.matchAll(/`(OTEL_\w+)`/g) ?? []]
    .map(([, name = '']) => name)
  expect([...new Set([...listed, ...traces])].sort()).toEqual([...there].sort())
})

Deno.test('the pages name no function, argument, setting or event of ours that is not there', async () => {
  const sql = await Promise.all(
    (await listFiles(projectRoot, 'sql', '.sql')).map((path) =>
      Deno.readTextFile(join(projectRoot, path))
    ),
  )
  const text = sql.join('\n')
  const families: [what: string, named: RegExp, there: RegExp][] = [
    ['function', /`(?!current_setting)([a-z]\w*_\w+)\(/g, /create function outbox\.(\w+)/g],
    ['argument', /`(p_[a-z_]+)\b/g, /\b(p_[a-z_]+)\b/g],
    ['event', /`(outhook\.[a-z]+\.[a-z_]+(?:ed|held))`/g, /'(outhook(?:\.[a-z_]+){2})'/g],
    [
      'setting',
      /`((?:api|callback|egress|endpoint|event|inbox|kick|message|metrics|publish|worker)\.[a-z_]+)`/g,
      /\('([a-z_]+\.[a-z_]+)',/g,
    ],
  ]
  for (const [what, named, there] of families) {
    const known = new Set([...text.matchAll(there)].map(([, name]) => name))
    const unknown = [...docs].flatMap(([path, page]) =>
      [...page.matchAll(named)].filter(([, name]) => !known.has(name)).map(([found]) =>
        `${path}: ${what} ${found}`
      )
    )
    expect(unknown).toEqual([])
  }
})
