import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'

const readme = await Deno.readTextFile(join(projectRoot, 'README.md'))

/** The README's code block whose fence says `name=<name>`. Throws when there is none, or more. */
export function readmeBlock(name: string): string {
  const fence = new RegExp(
    `^( *)\`\`\`\\w+ name=${name.replaceAll('.', '\\.')}\\n([^]*?)^ *\`\`\`$`,
    'gm',
  )
  const [first, ...more] = [...readme.matchAll(fence)]
  const [, indent, text] = first ?? []
  if (indent === undefined || text === undefined || more.length > 0) {
    throw new Error(`The README must have one code block with name=${name}`)
  }
  return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
}

/** What stands below the README's heading, up to the next one. */
function below(heading: string): string {
  const [, text] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'))
  return text?.split(/^#+ /m)[0] ?? ''
}

/**
 * The items of the README's list below the heading: `` `name`: `value`, bounds. Meaning `` each, as
 * [name, value, bounds, meaning]; bounds are empty where there are none. Throws for one of another form.
 */
export function readmeSettings(heading: string): string[][] {
  const items = below(heading).split(/^- /m).slice(1)
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
 * The rows of the README's first table below the heading, its head left out. Cells are as written,
 * without the backquotes around them. Throws when there is none.
 */
export function readmeTable(heading: string): string[][] {
  const table = /(?:^\|.*\|\n)+/m.exec(below(heading))?.[0]
  if (table === undefined) throw new Error(`The README must have a table below ${heading}`)
  return table.trim().split('\n').slice(2).map((line) =>
    line.slice(1, -1).split('|').map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'))
  )
}
