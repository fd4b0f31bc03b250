import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** The pages for those who use the project, by their paths. */
export const docs = await readDocs()

async function readDocs(): Promise<Map<string, string>> {
  const paths = ['README.md']
  for await (const { name } of Deno.readDir(join(projectRoot, 'docs'))) {
    if (name.endsWith('.md')) paths.push(`docs/${name}`)
  }
  const read = async (path: string): Promise<[string, string]> => [
    path,
    await Deno.readTextFile(join(projectRoot, path)),
  ]
  return new Map(await Promise.all(paths.sort().map(read)))
}

/** The pages' code block whose fence says `name=<name>`. Throws when there is none, or more. */
export function docsBlock(name: string): string {
  const fence = new RegExp(
    `^( *)\`\`\`\\w+ name=${name.replaceAll('.', '\\.')}\\n([^]*?)^ *\`\`\`$`,
    'gm',
  )
  const [first, ...more] = [...docs.values()].flatMap((page) => [...page.matchAll(fence)])
  const [, indent, text] = first ?? []
  if (indent === undefined || text === undefined || more.length > 0) {
    throw new Error(`The pages must have one code block with name=${name}`)
  }
  return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** What stands on the page below the heading, up to the next one. */
function below(path: string, heading: string): string {
  const [, text] = docs.get(path)?.split(new RegExp(`^#+ ${heading}$`, 'm')) ?? []
  return text?.split(/^#+ /m)[0] ?? ''
}

/**
 * The items of the page's list below the heading: `` `name`: `value`, bounds. Meaning `` each, as
 * [name, value, bounds, meaning]; bounds are empty where there are none. Throws for one of another form.
 */
export function docsSettings(path: string, heading: string): string[][] {
  const items = below(path, heading).split(/^- /m).slice(1)
  return items.map((item) => {
    const text = item.split('\n\n')[0]?.replaceAll(/\s+/g, ' ').trim() ?? ''
    const [, name, value, bounds = '', meaning] =
      /^`([^`]+)`: `([^`]+)`(?:, (\d+ to \d+))?\. (.+)$/.exec(text) ?? []
    if (name === undefined || value === undefined || meaning === undefined) {
      throw new Error(`No setting is described by: ${text}`)
    }
    return [name, value, bounds, meaning]
  })
}

/**
 * The rows of the page's first table below the heading, its head left out. Cells are as written,
 * without the backquotes around them. Throws when there is none.
 */
export function docsTable(path: string, heading: string): string[][] {
  const table = /(?:^\|.*\|\n)+/m.exec(below(path, heading))?.[0]
  if (table === undefined) throw new Error(`${path} must have a table below ${heading}`)
  return table.trim().split('\n').slice(2).map((line) =>
    line.slice(1, -1).split('|').map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'))
  )
}
