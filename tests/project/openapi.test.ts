import { expect } from '@std/expect'
import { fieldMeanings } from '../../functions/api/field_meanings.ts'
import { join } from 'node:path'
import {
  clientOperationsFile,
  clientOperationsText,
  clientTypesFile,
  clientTypesText,
} from '../../package/build/client_types.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { describeText, openapiFile } from '../../supabase/local/openapi.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { npmTools } from '../_run/tools.ts'

Deno.test(`${openapiFile} is what the schemas give: else run \`deno task openapi\``, async () => {
  expect(await Deno.readTextFile(join(projectRoot, openapiFile))).toBe(describeText())
})

Deno.test(`${openapiFile} passes the linter of Redocly`, async () => {
  const programs = await ensureTool(projectRoot, ...npmTools.redocly)
  const { success, stdout, stderr } = await new Deno.Command(join(programs, 'redocly'), {
    args: ['lint', openapiFile, '--extends', 'recommended-strict'],
    cwd: projectRoot,
    // It would ask its maker for news and tell of its use.
    env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  }).output()
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
  expect(success ? '' : said).toBe('')
})

Deno.test('the client of the package has the operations of openapi.json that need credentials', async () => {
  const written = await Deno.readTextFile(join(projectRoot, clientOperationsFile))
  expect(written).toBe(clientOperationsText(describeText()))
  expect(written).toContain(`publishEvent: { method: 'POST', path: '/api/v1/events', keyed: true }`)
  expect(written).not.toContain('Callback')
})

Deno.test('the client of the package has the types of openapi.json', async () => {
  const programs = await ensureTool(projectRoot, ...npmTools.typescriptClient)
  const text = await clientTypesText(programs, describeText())
  expect(await Deno.readTextFile(join(projectRoot, clientTypesFile))).toBe(text)
})

type Schema =
  & { description?: string; $ref?: string; properties?: Record<string, Schema> }
  & Record<
    string,
    unknown
  >

/** The members without a description, by their paths. */
function undescribed(schema: Schema, path: string): string[] {
  const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      ...member.description === undefined && member.$ref === undefined ? [`${path}.${name}`] : [],
      ...undescribed(member, `${path}.${name}`),
    ]),
    ...[items, allOf, anyOf, oneOf].flat()
      // SAFETY: they are schemas.
      .flatMap((part) => part === undefined ? [] : undescribed(part as Schema, path)),
  ]
}

Deno.test('every member of a request and of a response has a written meaning', async () => {
  const text = await Deno.readTextFile(join(projectRoot, openapiFile))
  const { components: { schemas } } = JSON.parse(text)
  const missing = Object.entries(schemas)
    // SAFETY: the file has JSON Schemas.
    .flatMap(([name, schema]) => undescribed(schema as Schema, name))
  expect(missing).toEqual([])
})

Deno.test('every written meaning is of a member that is there', async () => {
  const text = await Deno.readTextFile(join(projectRoot, openapiFile))
  const unused = Object.entries(fieldMeanings)
    .filter(([, meaning]) => !text.includes(JSON.stringify(meaning).slice(1, -1)))
    .map(([name]) => name)
  expect(unused).toEqual([])
})
