import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { SetupError } from '../errors.ts'
import { projectRoot } from '../schema/project.ts'

/** The packages that a bundle imports and does not contain, by esbuild's metafile; sorted. */
export function externalPackages(metafile: string): string[] {
  // SAFETY: esbuild documents this form.
  const { outputs } = JSON.parse(metafile) as {
    outputs: Record<string, { imports: { path: string; external?: boolean }[] }>
  }
  const names = new Set<string>()
  for (const { path, external } of Object.values(outputs).flatMap(({ imports }) => imports)) {
    if (external === true && !isBuiltin(path)) names.add(packageOf(path))
  }
  return [...names].sort()
}

/** `hono` of `hono/cors`, and `@scope/name` of `@scope/name/part`. */
function packageOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** The packages with their versions in import_map.json, as `name@version`. */
export function pinnedPackages(names: readonly string[]): string[] {
  // SAFETY: an import map is an object of specifiers; a test checks the form of each.
  const { imports } = JSON.parse(Deno.readTextFileSync(join(projectRoot, 'import_map.json'))) as {
    imports: Record<string, string>
  }
  return names.map((name) => {
    const pinned = imports[name]
    if (pinned?.startsWith('npm:')) return pinned.slice('npm:'.length)
    throw new SetupError(`import_map.json does not pin ${name}: add it with its exact version`)
  })
}
