import { join } from 'node:path'
import { checkFlags, runCommand, type Values } from './command.ts'
import { print, printError } from './print.ts'
import { withSchema } from './schema/database.ts'
import { dumpSchema } from './schema/dump.ts'
import { buildFunctionList, functionListPath } from './schema/function_list.ts'
import { listFunctions } from './schema/functions.ts'
import {
  buildMigrations,
  generatedMark,
  isModuleMigration,
  type ModuleMigration,
  releasedVersion,
} from './schema/migration.ts'
import { orderPath } from './schema/order.ts'
import { expectedDump, expectedFunctions, projectRoot } from './schema/project.ts'
import { writeUpgrade } from './schema/upgrade_files.ts'

const help =
  `Build supabase/migrations from sql/ until the first release, after it the migrations of the next
version, and at any time the list of functions in sql/FUNCTIONS.md and the files that tests compare
with.

  npx -y deno@2.9.6 task db:build [--check]

  --check  only compare the migrations and the list with sql/
  --help   show this`

/** The result of a build: the exit code, and the lines to print. */
export interface BuildOutcome {
  code: 0 | 1
  message: string
}

/**
 * Builds the migrations of the project at `root`, one for each module of its sql/order.txt; with
 * `check`, only compares them. Removes a built migration whose module is no longer in order.txt. If
 * CHANGELOG.md names a release, it writes nothing and fails only if a module has no file.
 */
export async function buildMigrationFiles(root: string, check: boolean): Promise<BuildOutcome> {
  const version = releasedVersion(await readOr(join(root, 'CHANGELOG.md'), ''))
  if (check && version !== null) {
    return { code: 0, message: `Migrations are frozen since release ${version}` }
  }
  const migrations = await buildMigrations(root)
  const empty = migrations.find(({ text }) => !text.includes('\n-- sql/'))
  if (migrations.length === 0 || empty !== undefined) {
    const where = empty === undefined ? '' : ` in [${empty.module}]`
    return { code: 1, message: `${orderPath} names no file${where}` }
  }
  const differing: ModuleMigration[] = []
  for (const migration of migrations) {
    if (migration.text !== await readOr(join(root, migration.path), null)) {
      differing.push(migration)
    }
  }
  const stale = await staleMigrations(root, migrations.map(({ path }) => path))
  if (differing.length + stale.length === 0) {
    return { code: 0, message: `All ${migrations.length} migrations of sql/ are up to date` }
  }
  const paths = differing.map(({ path }) => path)
  if (version !== null) {
    return {
      code: 0,
      message: `Not rebuilt, because migrations are frozen since release ${version}: ` +
        `${[...paths, ...stale].join(', ')}\nEach change of sql/ needs a new file in ` +
        'supabase/migrations/: `task test schema` compares both',
    }
  }
  if (check) return { code: 1, message: differences(paths, stale) }
  await Deno.mkdir(join(root, 'supabase/migrations'), { recursive: true })
  for (const { path, text } of differing) await Deno.writeTextFile(join(root, path), text)
  for (const path of stale) await Deno.remove(join(root, path))
  return {
    code: 0,
    message: [
      ...paths.map((path) => `Built ${path}`),
      ...stale.map((path) => `Removed ${path}: ${orderPath} has no such module`),
    ].join('\n'),
  }
}

/** Writes the list of functions of the project at `root`; with `check`, only compares it. */
export async function writeFunctionList(root: string, check: boolean): Promise<BuildOutcome> {
  const text = await buildFunctionList(root)
  if (text === await readOr(join(root, functionListPath), null)) {
    return { code: 0, message: `${functionListPath} is up to date` }
  }
  if (check) {
    return {
      code: 1,
      message: `${functionListPath} differs from sql/\nRun \`deno task db:build\` and commit it`,
    }
  }
  await Deno.writeTextFile(join(root, functionListPath), text)
  return { code: 0, message: `Wrote ${functionListPath}` }
}

/** Built migrations that are not among `current`. A file without the generated head was not built. */
async function staleMigrations(root: string, current: readonly string[]): Promise<string[]> {
  const folder = 'supabase/migrations'
  const stale: string[] = []
  for (const name of await namesIn(join(root, folder))) {
    const path = `${folder}/${name}`
    if (!isModuleMigration(name) || current.includes(path)) continue
    if ((await Deno.readTextFile(join(root, path))).startsWith(generatedMark)) stale.push(path)
  }
  return stale
}

function differences(paths: readonly string[], stale: readonly string[]): string {
  return [
    ...paths.map((path) => `${path} differs from sql/`),
    ...stale.map((path) => `${path} is of no module in ${orderPath}`),
    'Run `deno task db:build` and commit what it writes and removes',
  ].join('\n')
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort()
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []
    throw error
  }
}

/** Writes the schema dump and the list of functions that the tests compare with sql/. */
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

/**
 * Builds the list of functions, the migrations, the upgrade from the last release, and the expected files of the
 * project at `root`; with `check`, only compares them, without the expected files. A release freezes only the migrations.
 */
export async function build(root: string, check: boolean): Promise<BuildOutcome[]> {
  const upgrade = await writeUpgrade(root, check)
  const outcomes = [
    await writeFunctionList(root, check),
    await buildMigrationFiles(root, check),
    ...upgrade === null ? [] : [upgrade],
  ]
  if (check || outcomes.some(({ code }) => code !== 0)) return outcomes
  await writeExpected(root)
  const message = `Wrote ${expectedDump} and ${expectedFunctions}: check the changes, then run ` +
    '`deno task types`'
  return [...outcomes, { code: 0, message }]
}

async function run({ check }: Values<typeof checkFlags>): Promise<number> {
  const outcomes = await build(projectRoot, check)
  for (const { code, message } of outcomes) (code === 0 ? print : printError)(message)
  return Math.max(...outcomes.map(({ code }) => code))
}

export const main = (): Promise<never> => runCommand({ help, flags: checkFlags, run })

if (import.meta.main) await main()
