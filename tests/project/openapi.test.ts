import { expect } from '@std/expect'
import { join } from 'node:path'
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
