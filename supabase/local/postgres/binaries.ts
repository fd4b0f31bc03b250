/** An installed Postgres that the stack can run. */
export interface PostgresBinaries {
  /** Major version: 15, 16 or 17. */
  major: number
  /** The folder of initdb, postgres and psql. */
  bin: string
  /** The missing extensions of `WANTED`. */
  missing: string[]
  /** The extensions of `PLATFORM` that it has; the stack has a stand-in for each other one. */
  platform: string[]
}

const SUPPORTED = [17, 16, 15]

/** Required extensions. */
const REQUIRED = ['pg_cron', 'pgcrypto', 'uuid-ossp', 'pg_stat_statements']

/** Extensions for tests and `supabase db lint`. */
const WANTED = ['pgtap', 'plpgsql_check']

/** Extensions of the platform that Debian has no packages of. */
const PLATFORM = ['pg_net', 'supabase_vault']

/** The environment variable with the folder of the Postgres to run. */
export const binVariable = 'OUTHOOK_POSTGRES_BIN'

/**
 * Finds a Postgres 15 to 17 that has pg_cron; of several, the one with the fewest missing extensions, then
 * the newest. Resolves with null if there is none.
 */
export async function findPostgres(): Promise<PostgresBinaries | null> {
  const found: PostgresBinaries[] = []
  for (const bin of await candidates()) {
    const binaries = await inspect(bin)
    if (binaries !== null) found.push(binaries)
  }
  found.sort((a, b) => a.missing.length - b.missing.length || b.major - a.major)
  return found[0] ?? null
}

async function candidates(): Promise<Set<string>> {
  const named = Deno.env.get(binVariable) ?? ''
  if (named !== '') return new Set([named])
  const folders = new Set<string>()
  for (const major of SUPPORTED) {
    folders.add(`/usr/lib/postgresql/${major}/bin`)
    folders.add(`/usr/pgsql-${major}/bin`)
    folders.add(`/opt/homebrew/opt/postgresql@${major}/bin`)
    folders.add(`/usr/local/opt/postgresql@${major}/bin`)
  }
  const onPath = await outputOf('pg_config', '--bindir')
  if (onPath !== null) folders.add(onPath)
  return folders
}

async function inspect(bin: string): Promise<PostgresBinaries | null> {
  for (const program of ['initdb', 'postgres', 'psql']) {
    if (!await exists(`${bin}/${program}`)) return null
  }
  const version = await outputOf(`${bin}/postgres`, '--version')
  const major = Number(version?.match(/\) (\d+)/)?.[1])
  const share = await outputOf(`${bin}/pg_config`, '--sharedir')
  if (!SUPPORTED.includes(major) || share === null) return null
  const lacks = async (names: string[]): Promise<string[]> => {
    const present = await Promise.all(names.map((n) => exists(`${share}/extension/${n}.control`)))
    return names.filter((_, index) => !present[index])
  }
  if ((await lacks(REQUIRED)).length > 0) return null
  const absent = await lacks(PLATFORM)
  return {
    major,
    bin,
    missing: await lacks(WANTED),
    platform: PLATFORM.filter((name) => !absent.includes(name)),
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path)
    return true
  } catch {
    return false
  }
}

async function outputOf(command: string, ...args: string[]): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command(command, { args, stderr: 'null' }).output()
    return success ? new TextDecoder().decode(stdout).trim() : null
  } catch {
    return null
  }
}
