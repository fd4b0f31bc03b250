import { dirname, join, normalize } from 'node:path'
import { readProjectFile } from './_tracked.ts'

/** The specifiers of static imports and exports, and of import() with a literal. */
export function readSpecifiers(text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  // Between the keyword and `from` stand names, braces, commas and stars only, so that a declaration
  // that is exported ends the match.
  const names = String.raw`(?:type\b)?[\w$\s{},*]*?`
  const quoted = String.raw`['"]([^'"\n]+)['"]`
  const pattern = new RegExp(
    [
      String.raw`^(?:import|export)\b\s*${names}\bfrom\s*${quoted}`,
      String.raw`^import\s*${quoted}`,
      String.raw`\bimport\(\s*${quoted}`,
    ].join('|'),
    'gm',
  )
  return [...code.matchAll(pattern)].map(([, from, bare, called]) => from ?? bare ?? called ?? '')
}

/** Which files of the project each of these sources imports; packages are left out. */
export async function readImports(sources: readonly string[]): Promise<Map<string, string[]>> {
  const read = async (path: string): Promise<[string, string[]]> => {
    const specifiers = readSpecifiers(await readProjectFile(path) ?? '')
    const relative = specifiers.filter((specifier) => specifier.startsWith('.'))
    return [
      path,
      relative.map((target) => normalize(join(dirname(path), target)).replaceAll('\\', '/')),
    ]
  }
  return new Map(await Promise.all(sources.map(read)))
}
