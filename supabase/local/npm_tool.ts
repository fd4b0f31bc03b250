import { join } from 'node:path'
import { SetupError } from './errors.ts'

/**
 * Install one npm package of an exact version under `.outhook/tools/` of the project at `root`,
 * unless it is there, and return the folder of its programs. `log` hears of an installation.
 *
 * A folder of our own instead of npx, whose cache two first installations at once can break, and
 * whose every start costs half a second more. The folder is made under another name and renamed,
 * so that what is there is always whole.
 */
export async function ensureTool(
  root: string,
  name: string,
  version: string,
  log: (line: string) => void = () => {},
): Promise<string> {
  const tools = join(root, '.outhook', 'tools')
  const folder = join(tools, `${name.replace('/', '-')}-${version}`)
  const programs = join(folder, 'node_modules', '.bin')
  if (await exists(programs)) return programs
  log(`installing ${name} ${version} from npm`)
  await Deno.mkdir(tools, { recursive: true })
  const draft = await Deno.makeTempDir({ dir: tools, prefix: '.draft-' })
  try {
    await install(draft, `${name}@${version}`)
    await Deno.rename(draft, folder)
  } catch (error) {
    await Deno.remove(draft, { recursive: true })
    // Someone else's copy may have come first: theirs is as good.
    if (!(await exists(programs))) throw error
  }
  return programs
}

async function install(folder: string, what: string): Promise<void> {
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', what]
  const ended = await new Deno.Command('npm', {
    args,
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  }).output().catch((cause) => {
    const message = 'Cannot start npm, which comes with Node.js: install Node.js 20 or newer'
    throw new SetupError(message, { cause })
  })
  if (ended.success) return
  throw new SetupError(`Cannot install ${what}:\n${new TextDecoder().decode(ended.stderr).trim()}`)
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path)
    return true
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false
    throw error
  }
}
