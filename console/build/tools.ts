import { join } from 'node:path'
import { ensurePackages } from '../../supabase/local/npm_tool.ts'

/** What the page contains, by its name in import_map.json. */
const bundled = ['preact', '@tanstack/preact-query', 'openapi-fetch', 'uplot', 'zod']

/** Installs the bundler and what the page contains, and returns their `node_modules`. */
export async function consoleTools(root: string, log?: (line: string) => void): Promise<string> {
  // SAFETY: a package that the map does not name fails the installation.
  const { imports } = JSON.parse(await Deno.readTextFile(join(root, 'import_map.json'))) as {
    imports: Record<string, string>
  }
  const packages = [
    'esbuild@0.28.2',
    ...bundled.map((name) => imports[name]?.replace(/^npm:/, '') ?? name),
  ]
  const label = `console-${packages.join('-').replaceAll('/', '-')}`
  return await ensurePackages(root, label, packages, log)
}
