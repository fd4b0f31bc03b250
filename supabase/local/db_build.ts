import { join } from 'node:path'
import { print, printError } from './print.ts'
import { buildMigration, readSqlFiles, releasedVersion } from './schema/migration.ts'
import { builtMigration, projectRoot } from './schema/project.ts'

/** What a build came to: an exit code for the shell and one line for the person. */
export interface BuildOutcome {
  code: 0 | 1
  message: string
}

/**
 * Build the migration of the project at `root` from its sql/ folder, or only compare when `check`.
 * Writes nothing once CHANGELOG.md names a release.
 */
export async function buildDatabase(root: string, check: boolean): Promise<BuildOutcome> {
  const version = releasedVersion(await readOr(join(root, 'CHANGELOG.md'), ''))
  const files = await readSqlFiles(root)
  if (files.length === 0) return { code: 1, message: 'sql/ holds no .sql file to build from' }
  const target = join(root, builtMigration)
  const current = await readOr(target, null)
  const built = buildMigration(files)
  if (check && version !== null) {
    return { code: 0, message: `Migrations are frozen since release ${version}` }
  }
  if (current === built) return { code: 0, message: `${builtMigration} is up to date` }
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

async function readOr<T>(path: string, otherwise: T): Promise<string | T> {
  try {
    return await Deno.readTextFile(path)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return otherwise
    throw error
  }
}

async function main(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--check')
  if (unknown !== undefined) {
    printError(`Unknown argument "${unknown}": db:build takes --check or nothing`)
    return 2
  }
  const outcome = await buildDatabase(projectRoot, args.includes('--check'))
  if (outcome.code === 0) print(outcome.message)
  else printError(outcome.message)
  return outcome.code
}

if (import.meta.main) Deno.exit(await main(Deno.args))
