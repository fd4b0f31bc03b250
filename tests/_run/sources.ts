import { dirname, join, normalize } from 'node:path'

/** Files of the project by path from its root, each with its text. */
export type Sources = ReadonlyMap<string, string>

const IMPORTS = [
  // What names only types does not run.
  /^(?:import|export)\b(?! type\b)[^'"=(]*\bfrom '(\.[^']+)'/gm,
  /^import '(\.[^']+)'/gm,
  /\bimport\(\s*'(\.[^']+)'/g,
  // A program that the file starts.
  /\bnew URL\('([^']+\.ts)', import\.meta\.url\)/g,
]

/** The files, those that they import or start by a relative path, and so on. */
export async function reachedFrom(root: string, files: readonly string[]): Promise<Sources> {
  const reached = new Map<string, string>()
  const waiting = [...files]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue
    const text = await readIfThere(join(root, path))
    if (text === null) continue
    reached.set(path, text)
    if (!path.endsWith('.ts')) continue
    for (const pattern of IMPORTS) {
      for (const [, target = ''] of text.matchAll(pattern)) {
        waiting.push(normalize(join(dirname(path), target)).replaceAll('\\', '/'))
      }
    }
  }
  return reached
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null
    throw error
  }
}
