import { expect } from '@std/expect'
import { join } from 'node:path'
import { PROJECT_DIR, startStack } from '../../supabase/local/stack.ts'
import { cliVersions, runCli } from '../../supabase/local/supabase_cli.ts'
import { databaseFolder } from '../_support/folder.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { copyProject } from '../_support/project_copy.ts'

/** The versions of the project's migrations, in order. */
async function versions(): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(join(PROJECT_DIR, 'supabase/migrations')))
  return entries.map(({ name }) => name.slice(0, 14)).sort()
}

const tested = Deno.env.get('OUTHOOK_TESTS') === 'short' ? cliVersions.slice(-1) : cliVersions

for (const version of tested) {
  Deno.test(`supabase CLI ${version} and the stack agree on what has been applied`, async (t) => {
    await using project = await copyProject()
    const dataDir = databaseFolder()
    const start = (migrate: boolean): ReturnType<typeof startStack> =>
      startStack({ dataDir, ports: 'free', functions: [], migrate, fsync: false })
    const cli = async (dbUrl: string, ...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runCli({ version, args, cwd: project.root, dbUrl })
      if (code !== 0) throw new Error(`The CLI ended with code ${code}:\n${stdout}\n${stderr}`)
      return stdout + stderr
    }
    try {
      await t.step('the stack accepts what the CLI has pushed', async () => {
        await copyPrepared(dataDir, 'platform')
        const bare = await start(false)
        const pushed = await cli(bare.dbUrl, 'db', 'push', '--yes').finally(() => bare.stop())
        expect(pushed).not.toMatch(/up to date/)
        const stack = await start(true)
        const { stdout } = await stack
          .psql('select version from supabase_migrations.schema_migrations order by version')
          .finally(() => stack.stop())
        expect(stdout.split('\n')).toEqual(await versions())
      })
      await Deno.remove(dataDir, { recursive: true })
      await t.step('the CLI finds the database of a new stack up to date', async () => {
        await copyPrepared(dataDir, 'migrations')
        const stack = await start(true)
        try {
          expect(await cli(stack.dbUrl, 'db', 'push', '--yes')).toMatch(/up to date/)
          const list = await cli(stack.dbUrl, 'migration', 'list')
          for (const version of await versions()) {
            expect(list).toMatch(new RegExp(`${version}\`? *\\| *\`?${version}`))
          }
        } finally {
          await stack.stop()
        }
      })
    } finally {
      await Deno.remove(dataDir, { recursive: true }).catch(() => {})
    }
  })
}
