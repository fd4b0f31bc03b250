import { join } from 'node:path'
import { denoCacheDir } from '../../supabase/local/packages/environment.ts'

/** A registry of packages on this machine: it has those that are in Deno's cache. */
export interface Registry {
  url: string
  /** From now on it sends so many packages, and no more until it is let go. Resolves when one has to wait. */
  hold(after: number): Promise<void>
  letGo(): void
  close(): Promise<void>
}

export async function startRegistry(): Promise<Registry> {
  const roots = await rootsIn(join(denoCacheDir(Deno.env.toObject()), 'npm'))
  let left = Infinity
  let held = Promise.withResolvers<void>()
  let gate = Promise.withResolvers<void>()
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    async ({ url }) => {
      const { origin, pathname } = new URL(url)
      const [name = '', version] = decodeURIComponent(pathname.slice(1)).split('/-/')
      if (version === undefined) return await describe(roots, name, origin)
      if (left-- <= 0) {
        held.resolve()
        await gate.promise
      }
      return await pack(roots, name, version)
    },
  )
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    async hold(after): Promise<void> {
      left = after
      held = Promise.withResolvers()
      gate = Promise.withResolvers()
      await held.promise
    },
    letGo(): void {
      left = Infinity
      gate.resolve()
    },
    close: () => server.shutdown(),
  }
}

/** The folders of Deno's cache that have packages; each registry has its own. */
async function rootsIn(folder: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory || name.startsWith('@')) continue
    const path = join(folder, name)
    if (await readText(join(path, 'zod/registry.json')) !== null) found.push(path)
    else if (await readText(join(path, 'registry.json')) === null) {
      found.push(...await rootsIn(path))
    }
  }
  return found
}

type Version = Record<string, unknown>

/**
 * What a registry says of a package: its versions that are in the cache. If none is, nothing has needed its
 * code, and it has all of them.
 */
async function describe(roots: readonly string[], name: string, origin: string): Promise<Response> {
  let known: Record<string, Version> = {}
  const kept: Record<string, Version> = {}
  for (const root of roots) {
    const text = await readText(join(root, name, 'registry.json'))
    if (text === null) continue
    // SAFETY: the form in which every registry describes a package.
    known = (JSON.parse(text) as { versions: Record<string, Version> }).versions
    for await (const { name: version, isDirectory } of Deno.readDir(join(root, name))) {
      if (isDirectory && known[version] !== undefined) kept[version] = known[version]
    }
  }
  const some = Object.keys(kept).length > 0 ? kept : known
  const latest = Object.keys(some).at(-1)
  if (latest === undefined) return new Response('{}', { status: 404 })
  // Packed again, a version has another checksum.
  const versions = Object.entries(some).map(([version, one]) => [
    version,
    { ...one, dist: { tarball: `${origin}/${name}/-/${version}` } },
  ])
  return Response.json({
    name,
    'dist-tags': { latest },
    versions: Object.fromEntries(versions),
  })
}

/** The archive of a version, made of its folder. */
async function pack(roots: readonly string[], name: string, version: string): Promise<Response> {
  for (const root of roots) {
    const rename = `--transform=s,^\\.,package,`
    const { success, stdout } = await new Deno.Command('tar', {
      args: ['cz', '-C', join(root, name, version), rename, '.'],
      stderr: 'null',
    }).output()
    if (success) return new Response(stdout)
  }
  return new Response(null, { status: 404 })
}

async function readText(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path)
  } catch (error) {
    const { NotFound, NotADirectory } = Deno.errors
    if (error instanceof NotFound || error instanceof NotADirectory) return null
    throw error
  }
}
