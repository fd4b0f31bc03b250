import { expect } from '@std/expect'
import { join } from 'node:path'
import {
  type CliResult,
  type CliVersion,
  cliVersions,
  runCli,
} from '../../supabase/local/supabase_cli.ts'
import { copyProject } from '../_support/project_copy.ts'
import { startTestPostgres } from '../_support/postgres.ts'

/** What each version is asked of a database that it has pushed to, and what must be in the answer. */
const checks: [command: string, args: string[], answer: RegExp][] = [
  ['db push, again', ['db', 'push', '--yes'], /up to date/],
  ['migration list', ['migration', 'list'], /`?20260101000000`? *\| *`?20260101000000`?/],
  [
    'migration list, of a module',
    ['migration', 'list'],
    /`?20260101000006`? *\| *`?20260101000006`?/,
  ],
  [
    'db lint',
    ['db', 'lint', '--level', 'warning', '--fail-on', 'warning'],
    /Linting schema: outbox/,
  ],
  ['db advisors', ['db', 'advisors', '--type', 'all', '--level', 'warn', '--fail-on', 'warn'], /./],
]

for (const version of cliVersions) {
  Deno.test(`supabase CLI ${version} pushes the migrations and finds nothing wrong`, async (t) => {
    await using project = await copyProject()
    await using pg = await startTestPostgres()
    const run = cli(version, project.root, pg.dbUrl)
    await t.step('db push', async () => expectSuccess(await run(['db', 'push', '--yes'])))
    for (const [command, args, answer] of checks) {
      await t.step(command, async () => {
        const result = await run(args)
        expectSuccess(result)
        expect(result.stdout + result.stderr).toMatch(answer)
      })
    }
  })

  Deno.test(`supabase CLI ${version} names a fault, so that its silence means something`, async (t) => {
    await using project = await copyProject()
    await using pg = await startTestPostgres()
    const run = cli(version, project.root, pg.dbUrl)
    await t.step('db lint refuses a function that reads a missing column', async () => {
      await pg.psql(`create schema faulty;
        create function faulty.broken() returns int language plpgsql set search_path = ''
          as $$ begin return (select missing from pg_catalog.pg_class limit 1); end $$`)
      const result = await run(['db', 'lint', '--level', 'warning', '--fail-on', 'warning'])
      expect(result.code).not.toBe(0)
      expect(result.stdout).toMatch(/faulty\.broken/)
    })
    await t.step('db advisors refuses a function without search_path', async () => {
      await pg.psql(`create function public.loose() returns int language sql as 'select 1'`)
      const result = await run([
        'db',
        'advisors',
        '--type',
        'all',
        '--level',
        'warn',
        '--fail-on',
        'warn',
      ])
      expect(result.code).not.toBe(0)
      expect(result.stdout).toMatch(/function_search_path_mutable/)
    })
    await t.step('config.toml is read: an unknown major version is refused', async () => {
      const path = join(project.root, 'supabase/config.toml')
      const text = await Deno.readTextFile(path)
      await Deno.writeTextFile(path, text.replace('major_version = 17', 'major_version = 9'))
      const result = await run(['migration', 'list'])
      expect(result.code).not.toBe(0)
      expect(result.stdout + result.stderr).toMatch(/Invalid db\.major_version: 9/)
    })
  })
}

function cli(
  version: CliVersion,
  cwd: string,
  dbUrl: string,
): (args: string[]) => Promise<CliResult> {
  return (args) => runCli({ version, args, cwd, dbUrl })
}

function expectSuccess({ code, stdout, stderr }: CliResult): void {
  if (code !== 0) throw new Error(`The CLI ended with code ${code}:\n${stdout}\n${stderr}`)
  // Version 3 warns of keys of config.toml that it does not know, and goes on.
  expect(stdout + stderr).not.toMatch(/WARN:/)
}
