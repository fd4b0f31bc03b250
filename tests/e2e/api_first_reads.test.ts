/**
 * Each read of the API on a database in which nothing has happened yet. PostgREST reads in a read-only transaction, so
 * what a read creates at its first use fails here, and in no test that has written before.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { openapiFile } from '../../supabase/local/openapi.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['api'] })
  call = apiCaller(outhook)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

const number = '%2B12025550111'
/** Parameters of a path that are no uuid. */
const inPath: Record<string, string> = {
  recipient: number,
  type: 'order.paid',
  name: 'order',
  appId: '900000000000001',
  dossierId: 'D-1',
}

type Read = { parameters?: { name: string; in: string }[] }

/** Each path with values in it, alone and with each parameter of its query. */
async function reads(): Promise<string[]> {
  const { paths } = JSON.parse(await Deno.readTextFile(join(projectRoot, openapiFile)))
  return Object.entries<{ get?: Read }>(paths).flatMap(([template, { get }]) => {
    if (get === undefined) return []
    const path = template.replace('/api/v1', '')
      .replace(/\{(\w+)\}/g, (_, name) => inPath[name] ?? crypto.randomUUID())
    const names = (get.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
    return [path, ...names.map((name) => `${path}?${name}=${number}`)]
  })
}

Deno.test('no read fails on a database in which nothing has happened yet', async () => {
  const requests = await reads()
  expect(requests.length).toBeGreaterThan(80)
  const failed: string[] = []
  for (const request of requests) {
    const { status, body } = await call(`GET ${request}`)
    if (status >= 500) failed.push(`${request}: ${status} ${JSON.stringify(body)}`)
  }
  expect(failed).toEqual([])
})
