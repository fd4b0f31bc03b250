import { join } from 'node:path'
import { ensureTool } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { npmTools } from '../../_run/tools.ts'
import { programPath, startProgram } from './program.ts'

/** What a command of a user printed. */
export interface Printed {
  code: number
  stdout: string
  stderr: string
}

/** A registry of npm on this machine, which has only what is published to it. */
export interface Registry extends AsyncDisposable {
  url: string
  /** Publishes a tarball as its owner does. */
  publish(tarball: string): Promise<void>
  /**
   * Runs a program of npm, such as `npm` or `npx`, in a folder, with the home folder `home`: its cache is there,
   * and nothing of the variables of this process besides PATH.
   */
  run(command: readonly string[], cwd: string, env?: Record<string, string>): Promise<Printed>
}

/** Starts a registry with its data in `folder`; `home` is the home folder of its users. */
export async function startRegistry(folder: string, home: string): Promise<Registry> {
  const tools = join(await ensureTool(projectRoot, ...npmTools.verdaccio), '..')
  await Deno.mkdir(folder, { recursive: true })
  await Deno.mkdir(home, { recursive: true })
  await Deno.symlink(tools, join(folder, 'node_modules'))
  await Deno.copyFile(programPath('registry.mjs'), join(folder, 'program.mjs'))
  const everybody = { access: '$all', publish: '$all', unpublish: '$all' }
  const config = {
    // JSON is YAML. It has no uplink, so it asks nobody else.
    storage: join(folder, 'storage'),
    self_path: folder,
    uplinks: {},
    packages: { '**': everybody },
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: 1 } },
    log: { type: 'stdout', format: 'json', level: 'warn' },
    web: { enable: false },
  }
  const path = join(folder, 'config.yaml')
  await Deno.writeTextFile(path, JSON.stringify(config))
  const server = startProgram(['node', 'program.mjs', path], folder, { HOME: home }, {
    stdin: 'piped',
  })
  const [, port] = await server.find(/^port (\d+)$/)
  const url = `http://127.0.0.1:${port}/`

  async function run(
    [name = '', ...args]: readonly string[],
    cwd: string,
    env: Record<string, string> = {},
  ): Promise<Printed> {
    const { code, stdout, stderr } = await new Deno.Command(name, {
      args,
      cwd,
      clearEnv: true,
      env: {
        PATH: Deno.env.get('PATH') ?? '',
        HOME: home,
        NO_COLOR: '1',
        npm_config_registry: url,
        npm_config_cache: join(home, '.npm'),
        npm_config_update_notifier: 'false',
        ...env,
      },
      stdin: 'null',
    }).output()
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
    return { code, stdout: text(stdout), stderr: text(stderr) }
  }

  return {
    url,
    run,
    async publish(tarball): Promise<void> {
      // npm publishes nothing without a token, and this registry asks for none.
      const token = `--//127.0.0.1:${port}/:_authToken=none`
      const { code, stderr } = await run(['npm', 'publish', token, tarball], folder)
      if (code !== 0) throw new Error(`npm publish ${tarball} failed:\n${stderr}`)
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
