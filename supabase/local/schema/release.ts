import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { exists } from '../exists.ts'
import { buildMigrations, type SqlFile } from './migration.ts'

/** The releases that upgrades start from, one folder each, from the root. */
export const releasesPath = 'tests/releases'

/** The schema of a release: the files of each module by their names, in the order of application. */
export interface Release {
  version: string
  modules: ReadonlyMap<string, SqlFile[]>
}

/** The version of the project at `root`. */
export async function projectVersion(root: string): Promise<string> {
  const text = await Deno.readTextFile(join(root, 'functions/_shared/base/version.ts'))
  const [, version] = /version = '(\d+\.\d+\.\d+)'/.exec(text) ?? []
  if (version === undefined) throw new Error('functions/_shared/base/version.ts has no version')
  return version
}

/** The schema of the project at `root` as a release. */
export async function releaseOf(root: string): Promise<Release> {
  const version = await projectVersion(root)
  const migrations = await buildMigrations(root, version)
  return {
    version,
    modules: new Map(migrations.map(({ module, text }) => [module, splitFiles(text)])),
  }
}

/**
 * Writes the schema of the project at `root` into a folder named as its version, or as the candidate
 * of it that `as` names, such as 1.0.0-rc.1. Returns the paths.
 */
export async function freezeRelease(root: string, as?: string): Promise<string[]> {
  const version = await projectVersion(root)
  const name = as ?? version
  const folder = `${releasesPath}/${name}`
  await Deno.mkdir(join(root, folder), { recursive: true })
  const paths: string[] = []
  for (const [at, { module, text }] of (await buildMigrations(root, name)).entries()) {
    const path = `${folder}/${at}_${module}.sql.gz`
    // Of version(), which check_module() compares.
    const own = text.replaceAll(`'version', '${version}'`, `'version', '${name}'`)
    await Deno.writeFile(join(root, path), gzipSync(own, { level: 9 }))
    paths.push(path)
  }
  return paths
}

/** Reads the newest release in the folder; null before the first. Candidates are not releases. */
export async function lastRelease(root: string): Promise<Release | null> {
  const versions = (await storedNames(root)).filter((name) => /^\d+\.\d+\.\d+$/.test(name))
  const [version] = versions.sort(compareVersions).toReversed()
  return version === undefined ? null : await readRelease(root, version)
}

/** Reads the newest candidate of a release; null if none is stored. */
export async function lastCandidate(root: string): Promise<Release | null> {
  const numbers = (name: string): number[] => name.split(/\D+/).map(Number)
  const [name] = (await storedNames(root)).filter(isCandidate).sort((a, b) => {
    const [left, right] = [numbers(a), numbers(b)]
    const at = left.findIndex((number, index) => number !== right[index])
    return at === -1 ? 0 : (right[at] ?? 0) - (left[at] ?? 0)
  })
  return name === undefined ? null : await readRelease(root, name)
}

/** Whether a text is the name of a candidate, such as 1.0.0-rc.1. */
export function isCandidate(name: string): boolean {
  return /^\d+\.\d+\.\d+-rc\.\d+$/.test(name)
}

async function storedNames(root: string): Promise<string[]> {
  const folder = join(root, releasesPath)
  if (!await exists(folder)) return []
  return (await Array.fromAsync(Deno.readDir(folder)))
    .flatMap(({ name, isDirectory }) => isDirectory ? [name] : [])
}

/** Reads a release or a candidate. */
export async function readRelease(root: string, version: string): Promise<Release> {
  const folder = join(root, releasesPath)
  const names = (await Array.fromAsync(Deno.readDir(join(folder, version)))).map(({ name }) => name)
  const modules = new Map<string, SqlFile[]>()
  for (const name of names.sort((a, b) => Number.parseInt(a) - Number.parseInt(b))) {
    const [, module] = /^\d+_([a-z_]+)\.sql\.gz$/.exec(name) ?? []
    if (module === undefined) continue
    const bytes = await Deno.readFile(join(folder, version, name))
    modules.set(module, splitFiles(new TextDecoder().decode(gunzipSync(bytes))))
  }
  return { version, modules }
}

/** Orders versions by their numbers: 1.10.0 comes after 1.9.0. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(Number), right.split('.').map(Number)]
  const at = a.findIndex((number, index) => number !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

/** The files that the migration of a module was built from. */
export function splitFiles(text: string): SqlFile[] {
  const parts = text.split(/^-- (sql\/\S+\.sql)\n\n/m).slice(1)
  return parts.flatMap((path, at) =>
    at % 2 === 0 ? [{ path, text: (parts[at + 1] ?? '').trim() }] : []
  )
}
