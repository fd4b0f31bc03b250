import { join } from 'node:path'

/** A module of the schema: its name and its files from the root, in the order of applying. */
export interface Module {
  name: string
  /** Such as `sql/events/publish.sql`. */
  paths: string[]
}

/** The table of contents of sql/, from the root. */
export const orderPath = 'sql/order.txt'

/**
 * Reads the table of contents: `[name]` begins a module, each other line names a file below sql/
 * without its ending, `#` begins a comment. Throws an Error that names the line it cannot read.
 */
export function parseOrder(text: string): Module[] {
  const modules: Module[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim()
    if (line === '') continue
    const name = /^\[([a-z_]+)\]$/.exec(line)?.[1]
    if (name !== undefined) {
      modules.push({ name, paths: [] })
      continue
    }
    const module = modules.at(-1)
    if (module === undefined || !/^[a-z_]+(\/[a-z_0-9]+)+$/.test(line)) {
      throw new Error(`${orderPath}:${index + 1}: expected [module] or folder/file, found: ${line}`)
    }
    module.paths.push(`sql/${line}.sql`)
  }
  return modules
}

/** The modules of the project at `root`. Throws as parseOrder() and when the file is missing. */
export async function readOrder(root: string): Promise<Module[]> {
  return parseOrder(await Deno.readTextFile(join(root, orderPath)))
}
