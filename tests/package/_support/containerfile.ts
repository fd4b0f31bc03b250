/**
 * Does by hand what an engine does with the lines of a Containerfile, in a plain folder: it copies the files, runs
 * the commands and returns what the engine would start. It has no image, so the programs of the base image are
 * those of the test.
 */

import { dirname, join } from 'node:path'

/** What an engine starts, with paths in the folder. */
export interface Container {
  /** The base image, with the defaults of its arguments. */
  image: string
  env: Record<string, string>
  cwd: string
  user: { uid: number; gid: number }
  command: string[]
  stopSignal: Deno.Signal
}

/** One line of a Containerfile. Throws for a line that continues, because none of ours does. */
export function readContainerfile(text: string): [name: string, rest: string][] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [, name, rest] = /^([A-Z]+) (.*[^\\])$/.exec(line) ?? []
    if (name === undefined || rest === undefined) throw new Error(`Cannot read: ${line}`)
    return [name, rest]
  })
}

/**
 * Carries out the lines. `context` has the files that are copied, `root` becomes the root of the container, and
 * `path` has the programs of the base image.
 */
export async function carryOut(
  lines: readonly [name: string, rest: string][],
  { context, root, path }: { context: string; root: string; path: string },
): Promise<Container> {
  const args: Record<string, string> = {}
  const env: Record<string, string> = {}
  let entrypoint: string[] = []
  const found: Partial<Container> = {}
  const inside = (text: string): string => text.replaceAll(/(^| )\/app\b/g, `$1${root}/app`)

  for (const [name, rest] of lines) {
    switch (name) {
      case 'ARG':
      case 'ENV': {
        const [key = '', ...value] = rest.split('=')
        const values = name === 'ARG' ? args : env
        values[key] = value.join('=')
        break
      }
      case 'FROM':
        found.image = rest.replaceAll(/\$\{(\w+)\}/g, (_, key) => args[key] ?? '')
        break
      case 'WORKDIR':
        found.cwd = join(root, rest)
        await Deno.mkdir(found.cwd, { recursive: true })
        break
      case 'COPY': {
        const [, mode = '', from = '', to = ''] = /^--chmod=(\d{4}) (\S+) (\S+)$/.exec(rest) ?? []
        await Deno.mkdir(dirname(join(root, to)), { recursive: true })
        await Deno.copyFile(join(context, from), join(root, to))
        await Deno.chmod(join(root, to), parseInt(mode, 8))
        break
      }
      case 'RUN': {
        const { success, stderr } = await new Deno.Command('sh', {
          args: ['-ec', inside(rest)],
          env: { ...env, PATH: path },
          ...found.cwd === undefined ? {} : { cwd: found.cwd },
        }).output()
        if (!success) throw new Error(`RUN ${rest}: ${new TextDecoder().decode(stderr)}`)
        break
      }
      case 'USER': {
        const [uid = NaN, gid = NaN] = rest.split(':').map(Number)
        found.user = { uid, gid }
        break
      }
      case 'STOPSIGNAL':
        // SAFETY: the test sends it, and an unknown one throws.
        found.stopSignal = rest as Deno.Signal
        break
      case 'ENTRYPOINT':
        entrypoint = JSON.parse(rest)
        break
      case 'CMD':
        found.command = [...entrypoint, ...JSON.parse(rest)].map(inside)
        break
      case 'EXPOSE':
        break
      default:
        throw new Error(`Nothing here carries out ${name}`)
    }
  }
  const { image, cwd, user, command, stopSignal } = found
  if (!image || !cwd || !user || !command || !stopSignal) {
    throw new Error('The file needs FROM, WORKDIR, USER, STOPSIGNAL and CMD')
  }
  return { image, env, cwd, user, command, stopSignal }
}

/** The command of a container as its user, with only these variables. Only root can become another user. */
export function asUser(
  { user, command }: Container,
  env: Readonly<Record<string, string>>,
): string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const become = Deno.uid() === 0
    ? [
      ...['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'],
      ...['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'],
    ]
    : []
  return [...become, 'env', '-i', ...variables, ...command]
}
