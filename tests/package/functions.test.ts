/** The edge functions as single modules: their sizes, and that they deliver under another name. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildFunctions, packagedFunctions } from '../../package/build/functions.ts'
import { allowedLicences } from '../../package/build/notices.ts'
import { readPort } from '../../supabase/local/functions/ready.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { edgeDeno } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { startOuthook } from '../_support/outhook.ts'
import { publishDry } from './_support/publish.ts'
import { startProgram } from './_support/program.ts'

const out = testFolder()

let tarball = ''

Deno.test.beforeAll(async () => {
  const { packed } = await buildFunctions(projectRoot, out)
  tarball = packed.tarball
})
Deno.test.afterAll(async () => {
  await Deno.remove(out, { recursive: true })
})

/** The configuration of a function in the folder that a project copies. */
function vendored(name: string): {
  name: string
  verifyJwt: boolean
  entrypoint: string
  importMap: string
} {
  const folder = join(out, 'functions', `outhook-${name}`)
  return {
    name: `outhook-${name}`,
    verifyJwt: false,
    entrypoint: join(folder, 'index.ts'),
    importMap: join(folder, 'deno.json'),
  }
}

/** Bytes of each module: at most a tenth more than when this was written. */
const mostBytes: Record<(typeof packagedFunctions)[number], number> = {
  api: 1_200_000,
  deliver: 1_300_000,
  metrics: 800_000,
  'ops-alerts': 550_000,
  whatsapp: 800_000,
}

for (const name of packagedFunctions) {
  Deno.test(`the module ${name} has no imports but those of Node, and is below ${mostBytes[name] / 1e6} MB`, async () => {
    const path = join(out, 'outhook-functions', `${name}.js`)
    const text = await Deno.readTextFile(path)
    expect(text.length).toBeGreaterThan(20_000)
    expect(text.length).toBeLessThan(mostBytes[name])
    const imported = [...text.matchAll(/(?:^|[;}\n])(?:import|export)[^;'"()]*from\s*"([^"]+)"/g)]
      .map(([, specifier = '']) => specifier)
    expect(imported.filter((specifier) => !specifier.startsWith('node:'))).toEqual([])
  })
}

/** Packages of which each bundle has code: their names are found in it, or in its sources. */
const contained: Record<(typeof packagedFunctions)[number], string[]> = {
  api: ['hono', 'zod', '@hono/zod-openapi', 'jose', '@supabase/postgrest-js'],
  deliver: ['kafkajs', 'amqplib', '@supabase/postgrest-js'],
  metrics: ['@supabase/postgrest-js'],
  'ops-alerts': ['standardwebhooks', 'fast-sha256', '@stablelib/base64'],
  whatsapp: ['@supabase/postgrest-js'],
}

for (const name of packagedFunctions) {
  Deno.test(`the folder of ${name} has the licences of the packages in its bundle`, async () => {
    const path = join(out, 'functions', `outhook-${name}`, 'THIRD_PARTY_NOTICES.txt')
    const notices = await Deno.readTextFile(path)
    const heads = [...notices.matchAll(/^-{78}\n(\S+) \S+ \((.+)\)\n\n\S/gm)]
    const names = heads.map(([, one]) => one)
    expect(names).toEqual(expect.arrayContaining(contained[name]))
    expect(heads.filter(([, , licence = '']) => !allowedLicences.includes(licence))).toEqual([])
    expect((notices.match(/permission is hereby granted/gi) ?? []).length)
      .toBeGreaterThanOrEqual(heads.filter(([, , licence]) => licence === 'MIT').length)
  })
}

Deno.test('npm publish --dry-run passes for the functions', async () => {
  expect(await publishDry(tarball)).toContain('outhook-functions@')
})

Deno.test('copied functions named outhook-… deliver, and serve the API', async () => {
  const outhook = await startOuthook({ functions: [vendored('deliver'), vendored('api')] })
  try {
    const { apiUrl, keys } = outhook.stack
    // The tick asks the function of the configured URL.
    await outhook.sql`select outbox.configure(
      ${`${apiUrl}/functions/v1/outhook-deliver`}, ${keys.workerSecret})`
    await outhook.createEndpoint('/named', { p_event_types: ['order.paid'] })
    const id = await outhook.publish('order.paid')
    const [request] = await outhook.requestsOf(id, 1)
    expect(request?.headers['x-event-type']).toBe('order.paid')
    const response = await fetch(`${apiUrl}/functions/v1/outhook-api/v1/events/${id}`, {
      headers: { apikey: keys.secretKey },
    })
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ id })])
  } finally {
    await outhook.stop()
  }
})

/** A path that each function serves without a database, with the status of the response. */
const probes: Record<(typeof packagedFunctions)[number], [path: string, status: number]> = {
  api: ['/outhook-api/v1/openapi.json', 200],
  deliver: ['/outhook-deliver/health', 200],
  metrics: ['/outhook-metrics/health', 200],
  'ops-alerts': ['/outhook-ops-alerts/none', 404],
  whatsapp: ['/outhook-whatsapp/health', 200],
}

for (const name of packagedFunctions) {
  Deno.test(`the copied function ${name} runs under Deno ${edgeDeno}`, async () => {
    const deno = join(await ensureTool(projectRoot, 'deno', edgeDeno), 'deno')
    const { entrypoint, importMap } = vendored(name)
    const child = join(projectRoot, 'supabase/local/functions/child.ts')
    const command = [deno, 'run', '-A', '--cached-only', '--no-lock', '--config', importMap, child]
    await using running = startProgram([...command, pathToFileURL(entrypoint).href], out, {
      SUPABASE_URL: 'http://127.0.0.1:1',
      SUPABASE_SERVICE_ROLE_KEY: 'key',
    }, { stdin: 'piped' })
    const port = await running.first(readPort)
    const [path, status] = probes[name]
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    expect([response.status, await response.text()]).toEqual([status, expect.any(String)])
  })
}
