import { readModule } from '../../../supabase/local/schema/migration.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { modules } from './modules.ts'

/** A SQL file of a module. */
export interface CodeFile {
  module: string
  path: string
  /** Without comments; the contents of strings stay, because they may be code. */
  lines: string[]
}

/** A file with its text in lines, without comments. */
export function codeFile(module: string, path: string, text: string): CodeFile {
  return { module, path, lines: text.split('\n').map((line) => line.replace(/(^|\s)--\s.*/, '')) }
}

/** The files of all modules. */
export const files: readonly CodeFile[] = await readFiles()

/** The module that creates an object first; `create or replace` in a later one is an extension. */
export const owners = new Map<string, string>()
for (const { module, lines } of files) {
  const created =
    /\bcreate (?:or replace )?(?:unlogged )?(?:function|table|view|type|sequence) outbox\.(\w+)/g
  for (const [, name = ''] of lines.join('\n').matchAll(created)) {
    if (!owners.has(name)) owners.set(name, module)
  }
}

/** Each place where a file names an object of a module that is not among the usable ones. */
export function foreignNames({ path, lines }: CodeFile, usable: readonly string[]): string[] {
  const found: string[] = []
  for (const [index, line] of lines.entries()) {
    for (const [, name = ''] of line.matchAll(/\boutbox\.(\w+)/g)) {
      const owner = owners.get(name)
      if (owner !== undefined && !usable.includes(owner)) {
        found.push(`${path}:${index + 1}: outbox.${name} of ${owner}`)
      }
    }
  }
  return found
}

async function readFiles(): Promise<CodeFile[]> {
  const found: CodeFile[] = []
  for (const module of modules) {
    for (const { path, text } of await readModule(projectRoot, module)) {
      found.push(codeFile(module.name, path, text))
    }
  }
  return found
}
