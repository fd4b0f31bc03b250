import { expect } from '@std/expect'
import { join } from 'node:path'
import { describeText, openapiFile } from '../../supabase/local/openapi.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

Deno.test(`${openapiFile} is what the schemas give: else run \`deno task openapi\``, async () => {
  expect(await Deno.readTextFile(join(projectRoot, openapiFile))).toBe(describeText())
})
