import { join } from 'node:path'
import { ensurePackages } from '../../supabase/local/npm_tool.ts'

/** What the build runs, besides the packages that are bundled. */
const tools = ['esbuild@0.28.2', 'typescript@5.9.3', '@types/node@20.19.9']

/** What the bundles contain, by its name in import_map.json. */
const bundled = ['@clack/prompts', 'commander', 'openapi-fetch', 'smol-toml']

/** Installs the tools and returns their `node_modules`. */
export async function buildTools(root: string, log?: (line: string) => void): Promise<string> {
  // SAFETY: a package that the map does not name fails the installation.
  const { imports } = JSON.parse(await Deno.readTextFile(join(root, 'import_map.json'))) as {
    imports: Record<string, string>
  }
  const packages = [...tools, ...bundled.map((name) => imports[name]?.replace(/^npm:/, '') ?? name)]
  return await ensurePackages(
    root,
    `package-${packages.join('-').replaceAll('/', '-')}`,
    packages,
    log,
  )
}
