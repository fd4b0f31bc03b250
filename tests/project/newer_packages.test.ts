/**
 * Programs that load others from the cache alone start with the pinned versions, also after a package has a newer one.
 * Deno resolves a dependency of a package, such as that of @hono/zod-openapi on hono, to the newest version that the
 * registry names and its range allows, unless a version of it was resolved before. That newest version was not fetched
 * if the fetch saw the pinned version first.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { denoCacheDir } from '../../supabase/local/packages/environment.ts'
import { programs } from '../../supabase/local/programs.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

/** What the cache has of a package. */
interface Description {
  'dist-tags': { latest: string }
  versions: Record<string, Version>
}

interface Version {
  version: string
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/**
 * Each file of tests is loaded by itself, too. These import what depends on a pinned package: the schemas of the API on
 * hono, and svix on standardwebhooks.
 */
const alone = [
  'functions/api/schemas/common.ts',
  'tests/e2e/delivery_secrets.test.ts',
  'tests/e2e/delivery_wire.test.ts',
  'tests/functions/_shared/signing/sign.test.ts',
]

/** As child.ts and begin.ts: the module is known only when the program runs. */
const load = `try { await import(Deno.args[0]) } catch (error) { console.log(String(error)) }
Deno.exit(0)
`
const notCached = /not found in cache|Failed caching/

/**
 * A cache with the packages of this one, in which each pinned package that another one depends on has a newer version
 * that was not fetched.
 */
async function cacheWithNewerVersions(folder: string): Promise<void> {
  const { imports } = JSON.parse(
    await Deno.readTextFile(join(projectRoot, 'import_map.json')),
  ) as { imports: Record<string, string> }
  const pinned = new Map(
    Object.values(imports).flatMap((specifier) => {
      const [, name, version] = /^npm:(@?[^@]+)@([^/]+)$/.exec(specifier) ?? []
      return name === undefined || version === undefined ? [] : [[name, version] as const]
    }),
  )
  const npm = join(denoCacheDir(Deno.env.toObject()), 'npm')
  for await (const registry of Deno.readDir(npm)) {
    if (!registry.isDirectory) continue
    const described = await packagesIn(join(npm, registry.name))
    const wanted = new Set<string>()
    for (const [name, { fetched, known }] of described) {
      for (const version of fetched) {
        const { dependencies, peerDependencies } = known.versions[version] ?? {}
        for (const other of Object.keys({ ...dependencies, ...peerDependencies })) {
          if (other !== name) wanted.add(other)
        }
      }
    }
    for (const [name, version] of pinned) {
      const known = described.get(name)?.known
      if (known === undefined || !wanted.has(name)) continue
      const newer = version.replace(/\d+$/, (patch) => `${Number(patch) + 1000}`)
      known.versions[newer] = { ...known.versions[version], version: newer }
      known['dist-tags'].latest = newer
      const to = join(folder, 'npm', registry.name, name)
      await Deno.mkdir(to, { recursive: true })
      await Deno.symlink(join(npm, registry.name, name, version), join(to, version))
      await Deno.writeTextFile(join(to, 'registry.json'), JSON.stringify(known))
    }
    await linkOthers(join(npm, registry.name), join(folder, 'npm', registry.name))
  }
}

/** The packages in the folder of a registry, and which of their versions were fetched. */
async function packagesIn(
  folder: string,
  scope = '',
): Promise<Map<string, { fetched: string[]; known: Description }>> {
  const found = new Map<string, { fetched: string[]; known: Description }>()
  for await (const { name } of Deno.readDir(folder)) {
    if (scope === '' && name.startsWith('@')) {
      for (const each of await packagesIn(join(folder, name), `${name}/`)) found.set(...each)
      continue
    }
    const text = await Deno.readTextFile(join(folder, name, 'registry.json')).catch(() => null)
    if (text === null) continue
    const fetched = [...Deno.readDirSync(join(folder, name))].map((entry) => entry.name)
    found.set(`${scope}${name}`, { fetched, known: JSON.parse(text) })
  }
  return found
}

/** Links what `to` does not have; folders of scopes are in part there. */
async function linkOthers(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true })
  for await (const { name } of Deno.readDir(from)) {
    const there = await Deno.stat(join(to, name)).catch(() => null)
    if (there === null) await Deno.symlink(join(from, name), join(to, name))
    else if (name.startsWith('@')) await linkOthers(join(from, name), join(to, name))
  }
}

async function entrypoints(): Promise<string[]> {
  const found: string[] = []
  for await (const { name, isDirectory } of Deno.readDir(join(projectRoot, 'functions'))) {
    if (isDirectory && !name.startsWith('_')) found.push(`functions/${name}/index.ts`)
  }
  for await (const { name } of Deno.readDir(join(projectRoot, 'package/functions'))) {
    if (name.endsWith('.ts')) found.push(`package/functions/${name}`)
  }
  return [...found, ...new Set([...programs.values()].map(({ module }) => module)), ...alone]
    .sort()
}

Deno.test('functions and programs load the pinned packages although the registry has newer ones', async () => {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  try {
    await cacheWithNewerVersions(folder)
    const main = join(folder, 'main.ts')
    await Deno.writeTextFile(main, load)
    const loaded = async (module: string): Promise<string> => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...['run', '-A', '--quiet', '--no-lock', '--no-check', '--cached-only'],
          ...['--config', join(projectRoot, 'deno.json'), main, module],
        ],
        cwd: projectRoot,
        env: { DENO_DIR: folder, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' },
        stdin: 'null',
      }).output()
      return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
    }
    // The peer dependency alone resolves to the newer version: the check can fail.
    expect(await loaded('@hono/zod-openapi')).toMatch(notCached)
    const found: string[] = []
    for (const module of await entrypoints()) {
      const said = await loaded(`file://${join(projectRoot, module)}`)
      if (notCached.test(said)) found.push(`${module}: ${said}`)
    }
    expect(found).toEqual([])
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})

Deno.test('what depends on a pinned package is imported only where the pinned one comes first', async () => {
  const found: string[] = []
  for (const path of await projectFiles()) {
    if (!/\.tsx?$/.test(path) || path === 'functions/api/zod_openapi.ts') continue
    const text = await readProjectFile(path) ?? ''
    if (/^[^/]* from '@hono\/zod-openapi'/m.test(text)) found.push(path)
    if (/^[^/]* from 'svix'/m.test(text) && !alone.includes(path)) found.push(path)
  }
  expect(found).toEqual([])
})
