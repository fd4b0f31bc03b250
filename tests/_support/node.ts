import { join } from 'node:path'
import { ensurePackages } from '../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { bundleForNode } from '../../supabase/local/worker/bundle.ts'

/** Of the oldest major version that a bundle is for: the tests run on it. */
export const oldestNode = '20.19.5'

/** One of today, which can replace its process. */
export const newNode = '24.21.0'

/** The command of a Node that runs the tests. */
export async function nodeCommand(
  version = oldestNode,
  log?: (line: string) => void,
): Promise<string> {
  const name = `node-${Deno.build.os}-${Deno.build.arch === 'x86_64' ? 'x64' : 'arm64'}`
  const node = `${name}@${version}`
  const modules = await ensurePackages(projectRoot, `node-${version}`, [node], log)
  return join(modules, name, 'bin', 'node')
}

const built = new Map<string, Promise<string>>()

/** The path of a program of the project, bundled for Node once in a process of the tests. */
export function builtForNode(entry: string): Promise<string> {
  const known = built.get(entry)
  if (known !== undefined) return known
  const building = build(entry)
  built.set(entry, building)
  return building
}

async function build(entry: string): Promise<string> {
  const folder = join(projectRoot, '.outhook', `built-${crypto.randomUUID().slice(0, 13)}`)
  const output = join(folder, 'program.mjs')
  await bundleForNode({ entry, output })
  globalThis.addEventListener('unload', () => Deno.removeSync(folder, { recursive: true }))
  return output
}

/** Fetches Node, the bundler and the packages of all programs that the tests bundle. */
export async function fetchForNode(log: (line: string) => void): Promise<void> {
  for (const version of [oldestNode, newNode]) await nodeCommand(version, log)
  const folder = await Deno.makeTempDir()
  try {
    await bundleForNode({
      entry: 'functions/deliver/worker.ts',
      output: join(folder, 'worker.mjs'),
      log,
    })
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}
