import { expect } from '@std/expect'
import { dirname, join, normalize } from 'node:path'
import { builtinModules } from 'node:module'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { readImports, readSpecifiers } from './_imports.ts'
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

/** Which files of the project each source imports, without imports of packages. */
const targetsOf = await readImports(sources)

const shared = 'functions/_shared/'
const sharedFiles = files.filter((path) => path.startsWith(shared))

/** The folders of functions/_shared in the order of its README. */
const folders = [...(await readProjectFile(`${shared}README.md`) ?? '').matchAll(
  /^\d+\. `([\w-]+)\/`: \S.*\.$/gm,
)].map(([, folder]) => folder ?? '')

/** The folder of a file of functions/_shared; null for any other file. */
function folderOf(path: string): string | null {
  return path.startsWith(shared) ? path.slice(shared.length).split('/')[0] ?? '' : null
}

/** A chain of imports that leads back to its first file; null if there is none. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  function follow(path: string, chain: readonly string[]): string[] | null {
    const start = chain.indexOf(path)
    if (start >= 0) return [...chain.slice(start), path]
    if (done.has(path)) return null
    for (const target of imports.get(path) ?? []) {
      const cycle = follow(target, [...chain, path])
      if (cycle !== null) return cycle
    }
    done.add(path)
    return null
  }
  for (const path of imports.keys()) {
    const cycle = follow(path, [])
    if (cycle !== null) return cycle
  }
  return null
}

Deno.test('findCycle() finds a chain of imports that leads back', () => {
  const line = new Map([['a', ['b', 'c']], ['b', ['c']], ['c', []]])
  expect(findCycle(line)).toBe(null)
  expect(findCycle(new Map([...line, ['c', ['b']]]))).toEqual(['b', 'c', 'b'])
})

Deno.test('the README of functions/_shared lists each of its folders once, and no file is outside', () => {
  const found = sharedFiles.map(folderOf).filter((folder) => folder !== 'README.md')
  // The generated types are the one file that `files` leaves out; their folder has others.
  expect([...folders].sort()).toEqual([...new Set(found)].sort())
  expect(new Set(folders).size).toBe(folders.length)
})

Deno.test('in functions/_shared a folder imports from the folders above it in the README', () => {
  const upward: string[] = []
  for (const [path, targets] of targetsOf) {
    const folder = folderOf(path)
    if (folder === null) continue
    for (const target of targets) {
      const used = folderOf(target)
      if (used !== null && folders.indexOf(used) > folders.indexOf(folder)) {
        upward.push(`${path} imports ${target}`)
      }
    }
  }
  expect(upward).toEqual([])
})

Deno.test('a function imports from its own folder and from functions/_shared', () => {
  const foreign: string[] = []
  for (const [path, targets] of targetsOf) {
    const [top, folder] = path.split('/')
    if (top !== 'functions') continue
    for (const target of targets) {
      if (!target.startsWith(shared) && !target.startsWith(`functions/${folder}/`)) {
        foreign.push(`${path} imports ${target}`)
      }
    }
  }
  expect(foreign).toEqual([])
})

Deno.test('no chain of imports in functions/ and consumer/ leads back to its first file', () => {
  const imports = new Map(
    [...targetsOf].filter(([path]) => /^(functions|consumer)\//.test(path)),
  )
  expect(findCycle(imports)).toBe(null)
})

/** The kinds of endpoint that have a folder of their own. */
const kinds = sharedFiles.flatMap((path) => {
  const [, kind] = /^functions\/_shared\/senders\/(\w+)\/sender\.ts$/.exec(path) ?? []
  return kind === undefined ? [] : [kind]
})

Deno.test('a kind of endpoint imports from no other kind', () => {
  expect(kinds).toContain('whatsapp')
  const kindOf = (path: string): string | undefined =>
    kinds.find((kind) => path.startsWith(`${shared}senders/${kind}/`))
  const foreign: string[] = []
  for (const [path, targets] of targetsOf) {
    const kind = kindOf(path)
    for (const target of kind === undefined ? [] : targets) {
      if ((kindOf(target) ?? kind) !== kind) foreign.push(`${path} imports ${target}`)
    }
  }
  expect(foreign).toEqual([])
})

Deno.test('functions/deliver and the contract name no kind of endpoint', async () => {
  const named: string[] = []
  for (
    const path of sources.filter((name) => /^functions\/(deliver|_shared\/contract)\//.test(name))
  ) {
    const text = (await readProjectFile(path) ?? '').toLowerCase()
    for (const kind of kinds) if (text.includes(kind)) named.push(`${path} names ${kind}`)
  }
  expect(named).toEqual([])
})
