import { SetupError } from '../errors.ts'

/** The operating system user of the server. */
export interface ServerUser {
  /** The words before a command that make it run as this user; empty for the current user. */
  prefix: string[]
  /** Changes the owner of a file or folder to this user. */
  own(path: string): Promise<void>
}

/**
 * The user for a server with files in `folder` (absolute). Postgres refuses to run as root, so root uses the
 * user `postgres`; if that user cannot reach the folder (such as a clone in root's home), it gets the two
 * capabilities that bypass directory modes, and no other right. Throws a SetupError if there is no such user.
 */
export async function serverUser(folder: string): Promise<ServerUser> {
  if (Deno.uid() !== 0) return { prefix: [], own: () => Promise.resolve() }
  const uid = await idOf('-u')
  const gid = await idOf('-g')
  const reach = await canReach(folder, uid) ? '-all' : '+dac_override,+dac_read_search'
  return {
    prefix: [
      'setpriv',
      '--reuid=postgres',
      '--regid=postgres',
      '--init-groups',
      `--inh-caps=${reach}`,
      `--ambient-caps=${reach}`,
    ],
    own: (path) => Deno.chown(path, uid, gid),
  }
}

async function idOf(option: '-u' | '-g'): Promise<number> {
  const { success, stdout } = await new Deno.Command('id', {
    args: [option, 'postgres'],
    stderr: 'null',
  }).output()
  if (!success) {
    throw new SetupError(
      'Postgres does not run as root, and there is no user `postgres` to run it as: ' +
        'create one (useradd --system postgres), or start this as another user',
    )
  }
  return Number(new TextDecoder().decode(stdout))
}

async function canReach(folder: string, uid: number): Promise<boolean> {
  for (let path = folder;; path = path.slice(0, path.lastIndexOf('/')) || '/') {
    const { mode, uid: owner } = await Deno.stat(path)
    const searchable = owner === uid ? 0o100 : 0o001
    if (mode === null || (mode & searchable) === 0) return false
    if (path === '/') return true
  }
}
