/** A migration of the package, in the order in which they are applied. */
export interface SourceMigration {
  /** The module, such as `core`; `extensions` and `jobs` are no modules. */
  module: string
  needs: readonly string[]
  text: string
}

/** A file to write below supabase/migrations. */
export interface NewMigration {
  name: string
  text: string
}

/** A migration of Outhook that the project has. */
export interface Installed {
  file: string
  module: string
  /** Null for a file that was copied by hand: its name has no version. */
  version: string | null
}

/** The modules of `sources` that are named, with all that they need, in order. */
export function withNeeds(
  sources: readonly SourceMigration[],
  names: readonly string[],
): SourceMigration[] {
  const wanted = new Set(['extensions', 'core', ...names])
  for (const { module, needs } of sources.toReversed()) {
    if (wanted.has(module)) needs.forEach((need) => wanted.add(need))
  }
  return sources.filter(({ module }) => wanted.has(module))
}

/** What is behind the last module: it reloads the jobs of pg_cron. */
const reload = 'jobs_after_'

/** The migrations of Outhook among the files, by their names, in the order in which they are applied. */
export function installedMigrations(existing: readonly string[]): Installed[] {
  const numbered = existing.filter((file) => /^\d/.test(file)).sort(byVersion)
  // What an uninstallation has dropped can be installed again.
  const removed = numbered.findLastIndex((file) => removal.test(file))
  return numbered.slice(removed + 1).flatMap((file): Installed[] => {
    const [, module, version] = /^\d+_outhook_([a-z_]+?)_(\d+\.\d+\.\d+)\.sql$/.exec(file) ?? []
    if (module !== undefined && version !== undefined) return [{ file, module, version }]
    const copied = copiedModule(file)
    return copied === null ? [] : [{ file, module: copied, version: null }]
  })
}

/** The newest migration of each module. Those of the extensions and the jobs have no upgrades. */
export function newestMigrations(existing: readonly string[]): Installed[] {
  const newest = new Map<string, Installed>()
  for (const one of installedMigrations(existing)) newest.set(one.module, one)
  return [...newest.values()]
    .filter(({ module }) => module !== 'extensions' && !module.startsWith(reload))
}

/** The migration that drops the schema. */
const removal = /^\d+_outhook_uninstall_\d+\.\d+\.\d+\.sql$/

/** The module of a file of supabase/migrations that somebody copied; null if it is none. */
function copiedModule(file: string): string | null {
  if (file === '20251231000000_extensions.sql') return 'extensions'
  const [, name] = /^\d+_(reload_jobs|outhook(?:_[a-z]+)?)\.sql$/.exec(file) ?? []
  if (name === undefined) return null
  if (name === 'reload_jobs') return reload
  return name === 'outhook' ? 'core' : name.slice('outhook_'.length)
}

/**
 * The migrations that are missing. Each has a version of its own, later than every migration of the
 * project and not before `now`, because `supabase db push` refuses older ones. The last one reloads
 * the jobs of pg_cron, which misses the changes of a large transaction.
 */
export function newMigrations(
  sources: readonly SourceMigration[],
  existing: readonly string[],
  { modules, version, now }: { modules: readonly string[]; version: string; now: Date },
): NewMigration[] {
  // Without upgrades, which schedule no job.
  const present = installedMigrations(existing)
    .filter(({ module }, at, all) => all.findIndex((one) => one.module === module) === at)
  const installed = new Set(present.map(({ module }) => module))
  const missing: { module: string; text: string }[] = withNeeds(sources, modules)
    .filter(({ module }) => module !== 'jobs' && !installed.has(module))
  // A run that was interrupted may have written the modules without what comes behind them.
  const last = (missing.at(-1) ?? present.at(-1))?.module ?? 'core'
  const jobs = sources.find(({ module }) => module === 'jobs')
  if (jobs !== undefined && !last.startsWith(reload)) {
    missing.push({ ...jobs, module: `${reload}${last}` })
  }
  const next = nextVersion(existing, now)
  return missing.map(({ module, text }) => ({
    name: `${next()}_outhook_${module}_${version}.sql`,
    text,
  }))
}

/** Returns versions one after the other, later than those of all migrations and not before `now`. */
export function nextVersion(existing: readonly string[], now: Date): () => string {
  let at = Math.max(Math.floor(now.getTime() / 1000), newest(existing) + 1)
  return () => stamp(at++)
}

function byVersion(left: string, right: string): number {
  const difference = Number.parseInt(left) - Number.parseInt(right)
  return difference || (left < right ? -1 : 1)
}

/** The newest version among the migrations, in Unix seconds. */
function newest(existing: readonly string[]): number {
  const times = existing.map((name) => {
    const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_/.exec(name) ?? []
    if (y === undefined) return 0
    return Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s)) / 1000
  })
  return Math.max(0, ...times)
}

/** `20260131120000`, in UTC. */
function stamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replaceAll(/\D/g, '').slice(0, 14)
}
