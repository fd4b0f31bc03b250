/**
 * Writes the pictures of docs/code.md from the code: `npx -y deno@2.9.6 run -A
 * tests/project/_code_map.ts`. code_map.test.ts compares them.
 */

import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type Module, readOrder } from '../../supabase/local/schema/order.ts'
import { readImports } from './_imports.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

export const page = 'docs/code.md'

/** Folders in order, and which others each uses, with the names by which it does. */
type Graph = { folders: string[]; uses: Map<string, Map<string, Set<string>>> }

/** The blocks that the page must have, by the names of their fences. */
export async function codeMap(): Promise<Record<string, string>> {
  const modules = await readOrder(projectRoot)
  const sql = await sqlGraph(modules)
  const subgraphs = modules.map(({ name, paths }): [string, string[]] => [
    name,
    [...new Set(paths.map(folderOf))],
  ])
  const functions = await functionsGraph()
  const isShared = (folder: string): boolean => folder.startsWith('_shared/')
  return {
    'map.sql': mermaid(sql, subgraphs),
    'map.later': later(sql),
    'map.functions': mermaid(functions, [
      ['_shared', functions.folders.filter(isShared)],
      [
        'functions',
        functions.folders.filter((folder) => !isShared(folder) && folder !== 'consumer'),
      ],
      ['consumer', ['consumer']],
    ]),
  }
}

/** Such as `engine/route` for `sql/engine/route/route.sql`. */
function folderOf(path: string): string {
  return path.split('/').slice(1, -1).join('/')
}

/** The folders of sql/: one uses another if it names a function, table, view or type of it. */
async function sqlGraph(modules: readonly Module[]): Promise<Graph> {
  const owners = new Map<string, string>()
  const names: [folder: string, name: string][] = []
  const create =
    /\bcreate (?:or replace )?(?:unlogged )?(?:function|procedure|table|type|view|sequence)\s+outbox\.(\w+)/g
  for (const path of modules.flatMap(({ paths }) => paths)) {
    const folder = folderOf(path)
    const text = await Deno.readTextFile(join(projectRoot, path))
    const code = text.replaceAll(/--.*/g, '').replaceAll(/'(?:[^'\n]|'')*'/g, "''")
    for (const [, name = ''] of code.matchAll(create)) {
      if (!owners.has(name)) owners.set(name, folder)
    }
    for (const [, name = ''] of code.matchAll(/\boutbox\.(\w+)/g)) names.push([folder, name])
  }
  const graph: Graph = { folders: [...new Set(names.map(([folder]) => folder))], uses: new Map() }
  for (const [folder, name] of names) note(graph, folder, owners.get(name), name)
  return graph
}

/** The folders of functions/_shared in the order of its README, then the functions and consumer/. */
async function functionsGraph(): Promise<Graph> {
  const sources = (await projectFiles()).filter((path) =>
    /^(functions|consumer)\/.*\.ts$/.test(path)
  )
  const readme = await readProjectFile('functions/_shared/README.md') ?? ''
  const shared = [...readme.matchAll(/^\d+\. `([\w-]+)\/`/gm)].map(([, folder]) =>
    `_shared/${folder}`
  )
  const others = sources.map(functionOf).filter((folder) => !folder.startsWith('_shared/'))
  const graph: Graph = { folders: [...shared, ...new Set(others)], uses: new Map() }
  for (const [path, targets] of await readImports(sources)) {
    for (const target of targets) note(graph, functionOf(path), functionOf(target), target)
  }
  return graph
}

/** Such as `_shared/http` or `api`. */
function functionOf(path: string): string {
  const [top = '', folder = '', inner = ''] = path.split('/')
  if (top !== 'functions') return top
  return folder === '_shared' ? `${folder}/${inner}` : folder
}

function note({ uses }: Graph, folder: string, used: string | undefined, name: string): void {
  if (used === undefined || used === folder) return
  const targets = uses.get(folder) ?? new Map<string, Set<string>>()
  uses.set(folder, targets.set(used, (targets.get(used) ?? new Set()).add(name)))
}

/** The earlier folders that a folder uses. */
function earlier({ folders, uses }: Graph, folder: string): string[] {
  const before = folders.slice(0, folders.indexOf(folder))
  return before.filter((used) => uses.get(folder)?.has(used))
}

/** A picture with the arrows to earlier folders, without those that follow from other arrows. */
function mermaid(
  graph: Graph,
  subgraphs: readonly (readonly [string, readonly string[]])[],
): string {
  const lines = ['flowchart BT']
  for (const [name, folders] of subgraphs) {
    const nodes = folders.map((folder) => `${idOf(folder)}["${labelOf(folder)}"]`)
    if (nodes.length === 1) lines.push(`  ${nodes[0]}`)
    else lines.push(`  subgraph ${name}`, ...nodes.map((node) => `    ${node}`), '  end')
  }
  const reached = new Map<string, Set<string>>()
  for (const folder of graph.folders) {
    const direct = earlier(graph, folder)
    const indirect = new Set(direct.flatMap((used) => [...reached.get(used) ?? []]))
    reached.set(folder, new Set([...direct, ...indirect]))
    const drawn = direct.filter((used) => !indirect.has(used))
    lines.push(...drawn.map((used) => `  ${idOf(folder)} --> ${idOf(used)}`))
  }
  return `${lines.join('\n')}\n`
}

/** A name that is no keyword of Mermaid, as `end` would be. */
function idOf(folder: string): string {
  return `n_${folder.replaceAll(/\W/g, '_')}`
}

function labelOf(folder: string): string {
  return folder.replace('_shared/', '')
}

/** The uses of later folders, one line for each pair. */
function later(graph: Graph): string {
  const lines = graph.folders.flatMap((folder) => {
    const targets = graph.folders.slice(graph.folders.indexOf(folder) + 1)
    return targets.flatMap((used) => {
      const names = graph.uses.get(folder)?.get(used)
      return names === undefined ? [] : [`${folder} -> ${used}: ${[...names].sort().join(', ')}`]
    })
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** The page with these blocks in the place of its own. */
export function withBlocks(text: string, blocks: Readonly<Record<string, string>>): string {
  let result = text
  for (const [name, block] of Object.entries(blocks)) {
    const fence = new RegExp(`^(\`\`\`\\w+ name=${name.replace('.', '\\.')}\\n)[^]*?^\`\`\`$`, 'm')
    result = result.replace(fence, (_, head) => `${head}${block}\`\`\``)
  }
  return result
}

if (import.meta.main) {
  const path = join(projectRoot, page)
  await Deno.writeTextFile(path, withBlocks(await Deno.readTextFile(path), await codeMap()))
}
