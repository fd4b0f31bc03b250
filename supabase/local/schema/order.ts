import { join } from 'node:path'

/** A module of the schema: its name and its files in order. */
export interface Module {
  name: string
  /** From the root, such as `sql/events/publish.sql`. */
  paths: string[]
}

export const orderPath = 'sql/order.txt'

/**
 * Parses sql/order.txt: `[name]` starts a module, each other line is a file in sql/ without its extension,
 * `#` starts a comment. Throws an Error that names an invalid line.
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

/** The modules of the project at `root`. Rejects like parseOrder(), or if the file is missing. */
export async function readOrder(root: string): Promise<Module[]> {
  return parseOrder(await Deno.readTextFile(join(root, orderPath)))
}
