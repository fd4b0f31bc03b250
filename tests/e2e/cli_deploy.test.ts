import { expect } from '@std/expect'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { cliVersions, runCli } from '../../supabase/local/supabase_cli.ts'
import { startManagementApi } from '../_support/management_api.ts'
import { edgeDeno } from '../_run/tools.ts'
import { copyProject } from '../_support/project_copy.ts'

const config = parse(await Deno.readTextFile(join(projectRoot, 'supabase/config.toml')))
// SAFETY: only the names are used, and each is compared with what the CLI sends.
const names = Object.keys(config['functions'] as Record<string, unknown>).sort()

for (const version of cliVersions) {
  Deno.test(`supabase CLI ${version} deploys every function with all that it imports`, async (t) => {
    await using project = await copyProject()
    const uploads = join(project.root, 'uploads')
    await using api = await startManagementApi(uploads)
    const ref = 'abcdefghijklmnopqrst'
    const target = version.startsWith('2.') ? ['--project-ref', ref] : [`--remote=${ref}`, '--yes']
    const { code, stdout, stderr } = await runCli({
      version,
      args: ['functions', 'deploy', '--use-api', ...target],
      cwd: project.root,
      env: api.env,
    })
    if (code !== 0) throw new Error(`The CLI ended with code ${code}:\n${stdout}\n${stderr}`)
    expect(stdout + stderr).not.toMatch(/WARN/)
    expect(api.deployments.map((deployment) => deployment.slug).sort()).toEqual(names)
    for (const { slug, metadata } of api.deployments) {
      await t.step(`${slug} is sent as config.toml says`, () => {
        expect(metadata).toMatchObject({
          entrypoint_path: `functions/${slug}/index.ts`,
          import_map_path: 'deno.json',
          verify_jwt: false,
        })
      })
      await t.step(`${slug} is whole: the uploaded files alone load under Deno 2.1`, async () => {
        const deno = join(await ensureTool(projectRoot, 'deno', edgeDeno), 'deno')
        const checked = await new Deno.Command(deno, {
          args: ['check', '--quiet', `functions/${slug}/index.ts`],
          cwd: join(uploads, slug),
        }).output()
        expect(new TextDecoder().decode(checked.stderr)).toBe('')
        expect(checked.code).toBe(0)
      })
    }
  })
}
