import { readSqlFiles } from '../../../supabase/local/schema/migration.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** A folder of sql/ with the code of its files, without comments. */
export interface Folder {
  name: string
  code: string
}

/** The folders of sql/, in the order in which they are applied. */
export const folders: readonly Folder[] = await readFolders()

const owners = new Map<string, string>()
for (const { name, code } of folders) {
  const created =
    /\bcreate (?:or replace )?(?:unlogged )?(?:function|table|view|type|sequence) outbox\.(\w+)/g
  for (const [, object = ''] of code.matchAll(created)) {
    if (!owners.has(object)) owners.set(object, name)
  }
}

/** The folder that creates an object first; null for what is no object of the schema. */
export function ownerOf(object: string): string | null {
  return owners.get(object) ?? null
}

/** All names after `outbox.` in the code of a folder. */
export function referencesOf({ code }: Folder): string[] {
  return [...new Set([...code.matchAll(/\boutbox\.(\w+)/g)].map(([, name = '']) => name))]
}

async function readFolders(): Promise<Folder[]> {
  const found = new Map<string, string[]>()
  for (const { path, text } of await readSqlFiles(projectRoot)) {
    const name = path.split('/')[1] ?? ''
    const code = text.split('\n').map((line) => line.replace(/(^|\s)--\s.*/, '')).join('\n')
    found.set(name, [...found.get(name) ?? [], code])
  }
  return [...found].map(([name, codes]) => ({ name, code: codes.join('\n') }))
}
