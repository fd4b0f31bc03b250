import { join } from 'node:path'
import { checkFlags, runCommand, type Values } from './command.ts'
import { print, printError } from './print.ts'
import { withSchema } from './schema/database.ts'
import { dumpSchema } from './schema/dump.ts'
import { listFunctions } from './schema/functions.ts'
import { buildMigration, readSqlFiles, releasedVersion } from './schema/migration.ts'
import { builtMigration, expectedDump, expectedFunctions, projectRoot } from './schema/project.ts'

const help =
  `Build supabase/migrations from sql/ until the first release, and the files that tests compare with.

  npx -y deno@2.9.6 task db:build [--check]

  --check  only compare the migration with sql/
  --help   show this`

/** The result of a build: an exit code and one line to print. */
export interface BuildOutcome {
  code: 0 | 1
  message: string
}

/**
 * Builds the migration of the project at `root` from its sql/ folder; with `check` it only compares.
 * It writes nothing after the first release in CHANGELOG.md.
 */
export async function buildMigrationFile(root: string, check: boolean): Promise<BuildOutcome> {
  const version = releasedVersion(await readOr(join(root, 'CHANGELOG.md'), ''))
  if (check && version !== null) {
    return { code: 0, message: `Migrations are frozen since release ${version}` }
  }
  const files = await readSqlFiles(root)
  if (files.length === 0) return { code: 1, message: 'sql/ has no .sql file to build from' }
  const target = join(root, builtMigration)
  const built = buildMigration(files)
  if (built === await readOr(target, null)) {
    return { code: 0, message: `${builtMigration} is up to date` }
  }
  if (check) {
    return {
      code: 1,
      message: `${builtMigration} differs from sql/: run \`deno task db:build\` and commit it`,
    }
  }
  if (version !== null) {
    return {
      code: 1,
      message: `Cannot rebuild ${builtMigration}: version ${version} is released, so migrations ` +
        'are frozen. Write the change as a new file in supabase/migrations/',
    }
  }
  await Deno.mkdir(join(root, 'supabase/migrations'), { recursive: true })
  await Deno.writeTextFile(target, built)
  return { code: 0, message: `Built ${builtMigration} from ${files.length} files of sql/` }
}

/** Writes the dump and the list of functions of sql/, with which the tests compare. */
async function writeExpected(root: string): Promise<void> {
  await withSchema(root, 'sql', async (pg) => {
    await Deno.writeTextFile(join(root, expectedDump), await dumpSchema(pg))
    await Deno.writeTextFile(join(root, expectedFunctions), await listFunctions(pg))
  })
}

async function readOr<T>(path: string, otherwise: T): Promise<string | T> {
  try {
    return await Deno.readTextFile(path)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return otherwise
    throw error
  }
}

async function run({ check }: Values<typeof checkFlags>): Promise<number> {
  const outcome = await buildMigrationFile(projectRoot, check)
  if (outcome.code === 0) print(outcome.message)
  else printError(outcome.message)
  if (check || outcome.code !== 0) return outcome.code
  await writeExpected(projectRoot)
  print(
    `Wrote ${expectedDump} and ${expectedFunctions}: check the changes, then run \`deno task types\``,
  )
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags: checkFlags, run })

if (import.meta.main) await main()
