import { expect } from '@std/expect'
import { join } from 'node:path'
import { npm } from '../../../supabase/local/npm_tool.ts'

/** The configuration of the project before `init`. */
export const config = `project_id = "shop" # ours

[api]
port = 54321
# What the app reads.
schemas = ["public"]

[db]
major_version = 17

[functions.deliver]
verify_jwt = false
`

const ownFunction =
  `Deno.serve((request) => new Response('mine ' + new URL(request.url).pathname))\n`

/** What the command printed. */
export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** The project of somebody else, with the packed command installed. */
export interface Shop {
  path: string
  run(...args: string[]): Promise<Ended>
  /** Runs the command with more environment variables. */
  runWith(env: Record<string, string>, ...args: string[]): Promise<Ended>
  /** The files below supabase/ with their texts. */
  files(): Promise<Record<string, string>>
  commit(): Promise<void>
}

/** Creates a project with a migration, a function named deliver, and the command from `tarball`. */
export async function shopIn(root: string, tarball: string): Promise<Shop> {
  const path = join(root, crypto.randomUUID().slice(0, 8))
  const write = async (name: string, text: string): Promise<void> => {
    await Deno.mkdir(join(path, name, '..'), { recursive: true })
    await Deno.writeTextFile(join(path, name), text)
  }
  await write('package.json', '{ "private": true }\n')
  await write('.gitignore', '.DS_Store\n')
  await write('supabase/config.toml', config)
  await write('supabase/migrations/20990101000000_own.sql', 'create table public.own (id int);\n')
  await write('supabase/functions/deliver/index.ts', ownFunction)
  await write('supabase/functions/deliver/deno.json', '{ "imports": {} }\n')

  async function runWith(env: Record<string, string>, ...args: string[]): Promise<Ended> {
    const command = join(path, 'node_modules/.bin/outhook')
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args,
      cwd: path,
      env: { NO_COLOR: '1', ...env },
      stdin: 'null',
    }).output()
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
    return { code, stdout: text(stdout), stderr: text(stderr) }
  }

  async function files(): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    async function walk(folder: string): Promise<void> {
      for await (const { name, isDirectory } of Deno.readDir(join(path, folder))) {
        if (isDirectory) await walk(`${folder}/${name}`)
        else found[`${folder}/${name}`] = await Deno.readTextFile(join(path, folder, name))
      }
    }
    await walk('supabase')
    return found
  }

  async function git(...args: string[]): Promise<void> {
    const who = ['-c', 'user.name=shop', '-c', 'user.email=shop@example.com']
    const { code } = await new Deno.Command('git', { args: [...who, ...args], cwd: path }).output()
    expect(code).toBe(0)
  }
  await git('init', '--quiet')
  const commit = async (): Promise<void> => {
    await git('add', '--all')
    await git('commit', '--quiet', '--message', 'all')
  }
  await commit()
  // As the page says: what npm changes is not committed.
  await npm(['install', '--offline', '--no-audit', '--no-fund', '--save-dev', tarball], path)
  return { path, run: (...args) => runWith({}, ...args), runWith, files, commit }
}
