/** Programs that start after the fetch use only the cache. */

import { expect } from '@std/expect'
import { dirname, join, normalize } from 'node:path'
import { programs } from '../../supabase/local/programs.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { runTask } from '../_support/task.ts'
import { startConnectProxy } from '../functions/connect_proxy.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

const sources = (await projectFiles()).filter((path) => path.endsWith('.ts'))

// SAFETY: each task has this form; tasks.test.ts checks them.
const { tasks } = JSON.parse(await Deno.readTextFile(join(projectRoot, 'deno.json'))) as {
  tasks: Record<string, { command: string }>
}

/** The modules that `entry` loads before it runs, without those of Node; from the root. */
async function staticImports(entry: string): Promise<{ files: Set<string>; packages: string[] }> {
  const files = new Set<string>()
  const packages: string[] = []
  const waiting = [entry]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue
    files.add(path)
    const text = await readProjectFile(path) ?? ''
    // What names types alone is gone when the program runs.
    const from = /^(?:import|export) (?!type\b)[^'"=(]*\bfrom '([^']+)'|^import '([^']+)'/gm
    for (const [, named, bare] of text.matchAll(from)) {
      const specifier = named ?? bare ?? ''
      if (specifier.startsWith('.')) waiting.push(normalize(join(dirname(path), specifier)))
      else if (!specifier.startsWith('node:')) packages.push(`${path}: ${specifier}`)
    }
  }
  return { files, packages }
}

Deno.test('begin.ts loads no package before the fetching', async () => {
  const { files, packages } = await staticImports('supabase/local/begin.ts')
  expect(packages).toEqual([])
  expect(files.size).toBeGreaterThan(5)
})

Deno.test('every task starts begin.ts with the cache only, or loads no package', async () => {
  for (const [name, { command }] of Object.entries(tasks)) {
    const begun =
      /^DENO_NO_UPDATE_CHECK=1 deno run -A --cached-only (?:--v8-flags=\S+ )?supabase\/local\/begin\.ts (\S+)$/
        .exec(command)?.[1]
    if (begun !== undefined) {
      expect(begun).toBe(name)
      expect([...programs.keys()]).toContain(name)
      continue
    }
    const file = /([\w./]+\.ts)/.exec(command)?.[1] ?? ''
    expect({ name, ...await staticImports(file) }).toMatchObject({ name, packages: [] })
  }
})

Deno.test('every program of begin.ts has its module, which exports main()', async () => {
  for (const { module } of programs.values()) {
    expect(await readProjectFile(module)).toMatch(/^export (?:async function main\(|const main =)/m)
  }
})

Deno.test('every Deno that runs our programs or tests uses only the cache', async () => {
  const without: string[] = []
  for (const path of sources) {
    const text = await readProjectFile(path) ?? ''
    for (const [, args = ''] of text.matchAll(/\[\s*((?:\.\.\.\[)?'(?:run|test)',[^\]]*\])/g)) {
      const isDeno = /'-A'|'--allow-|'--no-check'/.test(args) || /'--quiet'/.test(args)
      if (isDeno && !args.includes('--cached-only')) without.push(`${path}: ${args.slice(0, 80)}`)
    }
  }
  // The compiled peers of the bench lie in a folder of node_modules of their own.
  expect(without.filter((line) => !line.startsWith('tests/bench/setup/peers.ts'))).toEqual([])
})

Deno.test('only the fetch runs npm or npx', async () => {
  const asking: string[] = []
  for (const path of sources) {
    const text = await readProjectFile(path) ?? ''
    if (/(?:Command|run|output|runQuietly)\('np[mx]'/.test(text)) asking.push(path)
  }
  expect(asking).toEqual([
    // Installs the peers before the bench begins.
    'tests/bench/setup/peers.ts',
    'supabase/local/npm_tool.ts',
    'tests/start/certificates.test.ts',
  ].sort())
})

Deno.test('a start with a warm cache makes no network request', async () => {
  const folder = testFolder()
  const proxy = startConnectProxy({ status: 502 })
  try {
    const { code, stderr } = await runTask({
      args: ['start', '--once', '--free-ports', '--data-dir', folder],
      // Each download would have to use this proxy.
      env: { HTTPS_PROXY: proxy.url, https_proxy: proxy.url, NO_PROXY: '127.0.0.1', no_proxy: '' },
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(proxy.asked).toEqual([])
  } finally {
    await proxy.close()
    await Deno.remove(folder, { recursive: true })
  }
})
