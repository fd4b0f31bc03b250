import { expect } from '@std/expect'
import { dirname, join, normalize } from 'node:path'
import { builtinModules } from 'node:module'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

// SAFETY: an import map is an object of specifiers; each value is checked below.
const { imports } = JSON.parse(
  await Deno.readTextFile(join(projectRoot, 'import_map.json')),
) as { imports: Record<string, string> }

const files = await projectFiles()
const sources = files.filter((path) => path.endsWith('.ts'))

/** Every specifier of the project's sources with the file that has it. */
const specifiers = (await Promise.all(sources.map(async (path) => {
  const text = await readProjectFile(path) ?? ''
  return readSpecifiers(text).map((specifier) => ({ path, specifier }))
}))).flat()

/** The specifiers of static imports and exports, and of import() with a literal. */
function readSpecifiers(text: string): string[] {
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

Deno.test('readSpecifiers() finds every way of importing', () => {
  expect(
    readSpecifiers(
      `import 'a'\nimport x from 'b'\nimport type { y,\n  z } from "c"\nexport * from './d.ts'\n` +
        `const e = await import('jose')\n// import 'not'\nconst s = "import 'not'"`,
    ),
  ).toEqual(['a', 'b', 'c', './d.ts', 'jose'])
})

for (const [name, target] of Object.entries(imports)) {
  Deno.test(`import_map.json pins ${name} to one exact version`, () => {
    const subpaths = name.endsWith('/')
    const pinned = subpaths
      ? /^npm:\/(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+\/$/
      : /^npm:(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/
    expect(target).toMatch(pinned)
    const whole = imports[name.slice(0, -1)]
    if (subpaths && whole !== undefined) expect(`${whole}/`).toBe(target.replace('npm:/', 'npm:'))
  })
}

// A map in a file of its own does not expand subpaths: each package whose subpaths are imported
// needs an entry that ends with a slash.
Deno.test('every import is relative, of Node, or in the import map', () => {
  const outside = specifiers.filter(({ specifier }) => {
    if (specifier.startsWith('.')) return false
    if (specifier.startsWith('node:')) return !builtinModules.includes(specifier.slice(5))
    return !(specifier in imports) &&
      !Object.keys(imports).some((key) => key.endsWith('/') && specifier.startsWith(key))
  })
  expect(outside).toEqual([])
})

Deno.test('every relative import names a file of the project, with its ending', () => {
  const missing = specifiers.filter(({ path, specifier }) =>
    specifier.startsWith('.') &&
    !files.includes(normalize(join(dirname(path), specifier)).replaceAll('\\', '/')) &&
    !specifier.endsWith('/database.types.ts')
  )
  expect(missing).toEqual([])
})

Deno.test('every import() has a literal: the CLI uploads only what it can read off the text', async () => {
  const dynamic: string[] = []
  for (const path of sources.filter((name) => name.startsWith('functions/'))) {
    const code = (await readProjectFile(path) ?? '').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    if (/\bimport\(\s*[^'"\s]/.test(code)) dynamic.push(path)
  }
  expect(dynamic).toEqual([])
})

Deno.test('functions/ imports nothing from outside of functions/', () => {
  const outside = specifiers.filter(({ path, specifier }) =>
    path.startsWith('functions/') && specifier.startsWith('.') &&
    !normalize(join(dirname(path), specifier)).startsWith('functions/')
  )
  expect(outside).toEqual([])
})
