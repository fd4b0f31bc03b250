import { join } from 'node:path'
import { SetupError } from './errors.ts'
import { exists } from './exists.ts'
import { fetchEnvironment } from './packages/environment.ts'
import { fetchProblem } from './packages/problem.ts'

/**
 * Installs one npm package of an exact version into `.outhook/tools/` of the project at `root`, unless it
 * is installed, and returns the folder of its programs. `log` gets a line for an installation.
 *
 * It does not use npx, because two concurrent first installations can break npx's cache, and each start
 * of npx takes half a second more.
 */
export async function ensureTool(
  root: string,
  name: string,
  version: string,
  log: (line: string) => void = () => {},
): Promise<string> {
  const label = `${name.replace('/', '-')}-${version}`
  return join(await ensurePackages(root, label, [`${name}@${version}`], log), '.bin')
}

/**
 * The same for several packages: returns their `node_modules`. The folder is created under a temporary
 * name and renamed, so that it is always complete.
 */
export async function ensurePackages(
  root: string,
  label: string,
  packages: readonly string[],
  log: (line: string) => void = () => {},
): Promise<string> {
  const tools = join(root, '.outhook', 'tools')
  const folder = join(tools, label)
  const modules = join(folder, 'node_modules')
  if (await exists(modules)) return modules
  log(`installing ${packages.join(' ')} from npm`)
  await Deno.mkdir(tools, { recursive: true })
  await sweepDrafts(tools)
  const draft = await Deno.makeTempDir({ dir: tools, prefix: DRAFT })
  try {
    await install(draft, packages)
    await Deno.rename(draft, folder)
  } catch (error) {
    await Deno.remove(draft, { recursive: true })
    // Another process may have installed the same packages first.
    if (!(await exists(modules))) throw error
  }
  return modules
}

const DRAFT = '.draft-'
const HOUR_MS = 3_600_000

/** Removes interrupted installations that are older than an hour. */
async function sweepDrafts(tools: string): Promise<void> {
  for await (const { name } of Deno.readDir(tools)) {
    if (!name.startsWith(DRAFT)) continue
    const path = join(tools, name)
    const { mtime } = await Deno.stat(path).catch(() => ({ mtime: null }))
    if (mtime === null || Date.now() - mtime.getTime() < HOUR_MS) continue
    await Deno.remove(path, { recursive: true }).catch(() => {})
  }
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund']
  await npm([...args, ...packages], folder)
}

/** Runs npm in a folder and returns what it prints; throws a SetupError with the cause if it fails. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { env } = fetchEnvironment()
  const command = new Deno.Command('npm', {
    args: [...args],
    cwd,
    clearEnv: true,
    env,
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  })
  const ended = await output(command)
  if (ended.success) return new TextDecoder().decode(ended.stdout)
  const said = new TextDecoder().decode(ended.stderr).trim()
  const cacheDir = env.npm_config_cache ?? join(env.HOME ?? '', '.npm')
  throw new SetupError(
    fetchProblem(said, { cacheDir, cacheVariable: 'npm_config_cache' }) ??
      `npm ${args.join(' ')} failed:\n${said}`,
  )
}

async function output(command: Deno.Command): Promise<Deno.CommandOutput> {
  try {
    // A program that is missing is thrown here, and is no rejection.
    return await command.output()
  } catch (cause) {
    const message = 'Cannot start npm, which comes with Node.js: install Node.js 20 or newer'
    throw new SetupError(message, { cause })
  }
}
