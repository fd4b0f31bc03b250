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

/**
 * The rows of the README's first table below the heading, its head left out. Cells are as written,
 * without the backquotes around them. Throws when there is none.
 */
export function readmeTable(heading: string): string[][] {
  const [, below] = readme.split(new RegExp(`^#+ ${heading}$`, 'm'))
  const table = /(?:^\|.*\|\n)+/m.exec(below?.split(/^#+ /m)[0] ?? '')?.[0]
  if (table === undefined) throw new Error(`The README must have a table below ${heading}`)
  return table.trim().split('\n').slice(2).map((line) =>
    line.slice(1, -1).split('|').map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'))
  )
}
