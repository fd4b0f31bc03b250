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

/** Writes the schema of the project at `root` into the folder of its version; returns the paths. */
export async function freezeRelease(root: string): Promise<string[]> {
  const version = await projectVersion(root)
  const folder = `${releasesPath}/${version}`
  await Deno.mkdir(join(root, folder), { recursive: true })
  const paths: string[] = []
  for (const [at, { module, text }] of (await buildMigrations(root, version)).entries()) {
    const path = `${folder}/${at}_${module}.sql.gz`
    await Deno.writeFile(join(root, path), gzipSync(text, { level: 9 }))
    paths.push(path)
  }
  return paths
}

/** Reads the newest release in the folder; null before the first. */
export async function lastRelease(root: string): Promise<Release | null> {
  const folder = join(root, releasesPath)
  if (!await exists(folder)) return null
  const versions = (await Array.fromAsync(Deno.readDir(folder)))
    .flatMap(({ name, isDirectory }) => isDirectory && /^\d+\.\d+\.\d+$/.test(name) ? [name] : [])
  const [version] = versions.sort(compareVersions).toReversed()
  if (version === undefined) return null
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
