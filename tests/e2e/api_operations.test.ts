/** Every operation, called by a client generated from the description, as the page on the API shows. */

import { Validator } from '@cfworker/json-schema'
import { expect } from '@std/expect'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeApi } from '../../functions/api/openapi.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { openapiFile } from '../../supabase/local/openapi.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docsBlock } from '../project/_docs.ts'
import { typeFlags } from '../../package/build/client_types.ts'
import { npmTools } from '../_run/tools.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { testFolder } from '../_support/folder.ts'
import { makeTenants, type Tenants, visitor } from '../_support/tenants.ts'
import { calls } from './isolation/calls.ts'
import { clientProgram } from './isolation/client.ts'
import { operations, type Shot, shotsOf } from './isolation/walk.ts'

const folder = testFolder()
let api: TestApi
let tenants: Tenants

Deno.test.beforeAll(async () => {
  // The walk stops the jobs of pg_cron: replay jobs stay as they are made.
  api = await startApi({ cronAlone: true })
  tenants = await makeTenants(api.outhook, projectRoot)
  await Deno.mkdir(folder, { recursive: true })
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
  await Deno.remove(folder, { recursive: true })
})

async function run(command: string, args: string[]): Promise<void> {
  const options = { args, cwd: folder, env: { NO_COLOR: '1' } }
  const { success, stdout, stderr } = await new Deno.Command(command, options).output()
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
  expect(success ? '' : said).toBe('')
}

/** What the description says is wrong with a response. */
function faultsOf(paths: Described, { operation }: Shot, status: number, body: unknown): string[] {
  const method = operation.method.toLowerCase()
  const response = paths.paths[operation.path]?.[method]?.responses[status]
  const media = status < 300 ? 'application/json' : 'application/problem+json'
  const schema = response?.content?.[media]?.schema
  if (schema === undefined) return [`${status} is not described`]
  const validator = new Validator({ ...schema, components: paths.components }, '2020-12')
  return validator.validate(body).errors.map(({ instanceLocation, error }) =>
    `${instanceLocation} ${error}`
  )
}

type Described = {
  components: unknown
  paths: Record<
    string,
    Record<string, {
      responses: Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>
    }>
  >
}

Deno.test('a generated client calls every operation, and each response is as described', async () => {
  const { all } = operations(api.app)
  const shots = Object.entries(calls).flatMap(([id, those]) => {
    const operation = all.find(({ operationId }) => operationId === id)
    if (operation === undefined) throw new Error(`There is no operation ${id}`)
    return those.flatMap((call) => shotsOf(operation, call, tenants))
      .filter(({ foreign }) => foreign.length === 0)
  })
  const called = new Set(shots.map(({ operation }) => operation.operationId))
  expect(all.filter((one) => !one.isOpen && !called.has(one.operationId))).toEqual([])

  const programs = await ensureTool(projectRoot, ...npmTools.typescriptClient)
  const types = [join(projectRoot, openapiFile), ...typeFlags, '-o', 'outhook.d.ts']
  await run(join(programs, 'openapi-typescript'), types)
  const [imported = ''] = /npm:openapi-fetch@[\d.]+/.exec(docsBlock('api-client.ts')) ?? []
  const program = join(folder, 'operations.ts')
  await Deno.writeTextFile(program, clientProgram(shots, imported, visitor))
  await run(Deno.execPath(), ['run', '--check', '--no-lock', '--cached-only', program])

  // SAFETY: the description is plain JSON of this form.
  const described = JSON.parse(JSON.stringify(describeApi(api.app))) as Described
  const wrong: string[] = []
  const bodies: string[] = []
  const { send } = await import(pathToFileURL(program).href)
  const statuses: number[] = await send(async (request: Request) => {
    const response = await api.app.fetch(request)
    bodies.push(await response.clone().text())
    return response
  }, api.outhook.stack.keys.secretKey)
  shots.forEach((shot, at) => {
    const [status = 0, text = ''] = [statuses[at], bodies[at]]
    const { operationId, scope } = shot.operation
    // Only a secret key may call these.
    const expected = scope === 'secret key' && shot.withKey === 403 ? 200 : shot.withKey
    const faults = faultsOf(described, shot, status, JSON.parse(text))
    if (status !== expected || faults.length > 0) {
      wrong.push(`${operationId}: ${status}, not ${expected}: ${faults.join('; ')} ${text}`)
    }
  })
  expect(wrong).toEqual([])
})

Deno.test('every operation that reads X-Org-Id describes it', () => {
  const { all } = operations(api.app)
  const without = all.filter(({ parameters }) =>
    !parameters.some(({ name }) => name === 'x-org-id')
  )
  // Meta calls it once to verify an address, with nothing but a token.
  expect(without.map(({ operationId }) => operationId)).toEqual(['verifyWhatsappCallback'])
})

Deno.test('the description names the local stack and a project on Supabase as servers', () => {
  const urls = describeApi(api.app).servers?.map(({ url }) => url)
  expect(urls).toEqual([
    'http://127.0.0.1:54321/functions/v1',
    'https://{project}.supabase.co/functions/v1',
  ])
})
