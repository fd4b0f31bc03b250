import { expect } from '@std/expect'
import { join } from 'node:path'
import { PROJECT_DIR, startStack } from '../../supabase/local/stack.ts'
import { type CliVersion, cliVersions, runCli } from '../../supabase/local/supabase_cli.ts'
import { databaseFolder } from '../_support/folder.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { copyProject } from '../_support/project_copy.ts'

/** The versions of the project's migrations, in order. */
async function versions(): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(join(PROJECT_DIR, 'supabase/migrations')))
  return entries.map(({ name }) => name.slice(0, 14)).sort()
}

/** Both CLIs read the project in the short run too; only the newer one pushes. */
const pushing = Deno.env.get('OUTHOOK_TESTS') === 'short' ? cliVersions.slice(-1) : cliVersions

/** A copy of the project and a folder for its database. */
async function makePlace(): Promise<AsyncDisposable & { root: string; dataDir: string }> {
  const project = await copyProject()
  const dataDir = databaseFolder()
  return {
    root: project.root,
    dataDir,
    async [Symbol.asyncDispose](): Promise<void> {
      await Deno.remove(dataDir, { recursive: true }).catch(() => {})
      await project[Symbol.asyncDispose]()
    },
  }
}

function start(dataDir: string, migrate: boolean): ReturnType<typeof startStack> {
  return startStack({ dataDir, ports: 'free', functions: [], migrate, fsync: false })
}

/** What the CLI says of the database; throws if it fails. */
async function cli(
  version: CliVersion,
  { cwd, dbUrl, args }: { cwd: string; dbUrl: string; args: string[] },
): Promise<string> {
  const { code, stdout, stderr } = await runCli({ version, args, cwd, dbUrl })
  if (code !== 0) throw new Error(`The CLI ended with code ${code}:\n${stdout}\n${stderr}`)
  return stdout + stderr
}

for (const version of pushing) {
  Deno.test(`the stack accepts what supabase CLI ${version} has pushed`, async () => {
    await using place = await makePlace()
    const { root: cwd, dataDir } = place
    await copyPrepared(dataDir, 'platform')
    const bare = await start(dataDir, false)
    const push = { cwd, dbUrl: bare.dbUrl, args: ['db', 'push', '--yes'] }
    const pushed = await cli(version, push).finally(() => bare.stop())
    expect(pushed).not.toMatch(/up to date/)
    const stack = await start(dataDir, true)
    const { stdout } = await stack
      .psql('select version from supabase_migrations.schema_migrations order by version')
      .finally(() => stack.stop())
    expect(stdout.split('\n')).toEqual(await versions())
  })
}

Deno.test('each supabase CLI finds the database of a new stack up to date', async (t) => {
  await using place = await makePlace()
  const { root: cwd, dataDir } = place
  await copyPrepared(dataDir, 'migrations')
  const stack = await start(dataDir, true)
  const { dbUrl } = stack
  try {
    for (const version of cliVersions) {
      await t.step(version, async () => {
        expect(await cli(version, { cwd, dbUrl, args: ['db', 'push', '--yes'] }))
          .toMatch(/up to date/)
        const list = await cli(version, { cwd, dbUrl, args: ['migration', 'list'] })
        for (const applied of await versions()) {
          expect(list).toMatch(new RegExp(`${applied}\`? *\\| *\`?${applied}`))
        }
      })
    }
  } finally {
    await stack.stop()
  }
})
