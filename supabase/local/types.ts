import { join } from 'node:path'
import { checkFlags, runCommand, type Values } from './command.ts'
import { SetupError } from './errors.ts'
import type { Postgres } from './postgres/mod.ts'
import { print, printError } from './print.ts'
import { withSchema } from './schema/database.ts'
import { dropRunTimePartitions } from './schema/partitions.ts'
import { projectRoot } from './schema/project.ts'
import { runCli } from './supabase_cli.ts'

const help = `Write functions/_shared/database/database.types.ts from the schema in sql/.

  npx -y deno@2.9.6 task types [--check]

  --check  only compare
  --help   show this`

/** The path of the types from the project's root. */
export const typesFile = 'functions/_shared/database/database.types.ts'

const head =
  '// Written by `deno task types` from the schema outbox: change the schema instead.\n' +
  '// deno-lint-ignore-file\n'

/**
 * The TypeScript types of the schema `outbox` in a temporary database, as `supabase gen types` writes
 * them, in the project's format. It drops the database's daily partitions first.
 */
export async function generateTypes(pg: Postgres): Promise<string> {
  await dropRunTimePartitions(pg)
  const { code, stdout, stderr } = await runCli({
    version: '3.1.0',
    args: ['gen', 'types', '--lang', 'typescript', '--schema', 'outbox'],
    cwd: projectRoot,
    dbUrl: pg.dbUrl,
  })
  if (code !== 0) throw new SetupError(`Cannot generate the types:\n${stderr.trim()}`)
  return await format(head + stdout)
}

async function format(source: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ['fmt', '--quiet', '--ext', 'ts', '-'],
    cwd: projectRoot,
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'inherit',
  }).spawn()
  const writer = child.stdin.getWriter()
  await writer.write(new TextEncoder().encode(source))
  await writer.close()
  const { success, stdout } = await child.output()
  if (!success) throw new SetupError('Cannot format the generated types')
  return new TextDecoder().decode(stdout)
}

async function run({ check }: Values<typeof checkFlags>): Promise<number> {
  const path = join(projectRoot, typesFile)
  const types = await withSchema(projectRoot, 'sql', generateTypes)
  if (check) {
    if (await Deno.readTextFile(path).catch(() => '') === types) {
      print(`${typesFile} is up to date`)
      return 0
    }
    printError(`${typesFile} differs from the schema: run \`deno task types\` and commit it`)
    return 1
  }
  await Deno.writeTextFile(path, types)
  print(`Wrote ${typesFile}`)
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags: checkFlags, run })

if (import.meta.main) await main()
