import { join } from 'node:path'

/** A module of the schema: its name and its files in order. */
export interface Module {
  name: string
  /** The modules that must be installed before it, all named earlier. */
  needs: string[]
  /** Such as `sql/events/publish.sql`. */
  paths: string[]
}

export const orderPath = 'sql/order.txt'

/**
 * Reads the table of contents. `[name]` or `[name] needs other, other` starts a module, each other
 * line names a file below sql/ without its ending, `#` starts a comment. Throws an Error that names
 * the invalid line.
 */
export function parseOrder(text: string): Module[] {
  const modules: Module[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim()
    if (line === '') continue
    const at = `${orderPath}:${index + 1}`
    const [, name, list = ''] = /^\[([a-z_]+)\](?: needs ([a-z_]+(?:, [a-z_]+)*))?$/.exec(line) ??
      []
    if (name !== undefined) {
      const needs = list.split(', ').filter((need) => need !== '')
      checkModule(modules, name, needs, at)
      modules.push({ name, needs, paths: [] })
      continue
    }
    const module = modules.at(-1)
    if (module === undefined || !/^[a-z_]+(\/[a-z_0-9]+)+$/.test(line)) {
      throw new Error(
        `${at}: expected [module], [module] needs other, or folder/file, found: ${line}`,
      )
    }
    module.paths.push(`sql/${line}.sql`)
  }
  return modules
}

/** Each module is applied after those that it needs, and needs the first, directly or not. */
function checkModule(
  before: readonly Module[],
  name: string,
  needs: readonly string[],
  at: string,
): void {
  if (before.some((module) => module.name === name)) {
    throw new Error(`${at}: [${name}] occurs twice`)
  }
  for (const need of needs) {
    if (!before.some((module) => module.name === need)) {
      throw new Error(`${at}: [${name}] needs ${need}, which is no module above it`)
    }
  }
  const [first] = before
  if (first !== undefined && needs.length === 0) {
    throw new Error(`${at}: [${name}] needs at least ${first.name}: say what it needs`)
  }
}

/** The named modules and all that they need, in the order of `modules`. */
export function withNeeds(modules: readonly Module[], names: readonly string[]): Module[] {
  const wanted = new Set(names)
  for (const module of modules.toReversed()) {
    if (wanted.has(module.name)) module.needs.forEach((need) => wanted.add(need))
  }
  return modules.filter((module) => wanted.has(module.name))
}

/** The modules of the project at `root`. Throws as parseOrder() and when the file is missing. */
export async function readOrder(root: string): Promise<Module[]> {
  return parseOrder(await Deno.readTextFile(join(root, orderPath)))
}
