/** A first start by a user who lacks a right: one sentence with the remedy, and code 1. Only root can be another user. */

import { expect } from '@std/expect'
import { denoCacheDir } from '../../supabase/local/packages/environment.ts'
import { cloneProject } from '../_support/clone.ts'
import type { TaskEnd } from '../_support/task.ts'
import { startRegistry } from './registry.ts'

const isRoot = Deno.build.os === 'linux' && Deno.uid() === 0
const nobody = '65534'

/** A folder with a clone, a home and an empty cache of another user; this one may only read the cache. */
interface Place {
  project: string
  home: string
  cache: string
  deno: string
}

async function makePlace(open: string): Promise<Place> {
  const place = {
    project: `${open}/project`,
    home: `${open}/home`,
    cache: `${open}/cache`,
    deno: `${open}/deno`,
  }
  await cloneProject(place.project)
  for (const path of [place.home, place.cache]) await Deno.mkdir(path)
  await Deno.writeTextFile(place.deno, '')
  const own = ['-R', `${nobody}:${nobody}`, place.project, place.home]
  await new Deno.Command('chown', { args: own }).output()
  // Whoever starts the tests may have another default.
  for (const path of [open, place.cache]) await Deno.chmod(path, 0o755)
  return place
}

/** `start --once` by a user without rights, after `mounts`, which only its processes see. */
async function startAsNobody(
  { project, home, cache, deno }: Place,
  { mounts = [], env = {} }: { mounts?: string[]; env?: Record<string, string> },
): Promise<TaskEnd> {
  const all = [`mount --bind '${Deno.execPath()}' '${deno}'`, ...mounts].join(' && ')
  const identity = `--reuid=${nobody} --regid=${nobody} --clear-groups --no-new-privs`
  const command = `${deno} run -A --cached-only supabase/local/begin.ts start --once --free-ports`
  const { code, stdout, stderr } = await new Deno.Command('unshare', {
    args: ['--mount', 'sh', '-c', `${all} && exec setpriv ${identity} ${command}`],
    cwd: project,
    clearEnv: true,
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: home,
      DENO_DIR: cache,
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
      ...env,
    },
  }).output()
  const decoder = new TextDecoder()
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) }
}

/** Runs in a folder of the system's: nobody but root may reach those of the project. */
function testByNobody(name: string, run: (place: Place) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !isRoot,
    async fn(): Promise<void> {
      const open = await Deno.makeTempDir({ prefix: 'outhook-' })
      try {
        await run(await makePlace(open))
      } finally {
        await Deno.remove(open, { recursive: true })
      }
    },
  })
}

testByNobody(
  'a user who is not root, on a machine without Postgres, is told what to install',
  async (place) => {
    const mounts = [
      `mount --bind '${denoCacheDir(Deno.env.toObject())}' '${place.cache}'`,
      ...['/usr/lib/postgresql', '/usr/pgsql-15', '/usr/pgsql-16', '/usr/pgsql-17'].map((path) =>
        `{ test ! -d ${path} || mount -t tmpfs none ${path}; }`
      ),
    ]
    expect(await startAsNobody(place, { mounts })).toEqual({
      code: 1,
      stdout: 'starting the local stack and a first event\n',
      stderr:
        'There is no PostgreSQL with pg_cron here: install PostgreSQL 15, 16 or 17 with pg_cron ' +
        '(Debian 12: apt-get install postgresql-15 postgresql-15-cron; Debian 13: postgresql-17 ' +
        'postgresql-17-cron), or run this as root on Debian or Ubuntu, which installs them, or ' +
        'use the Supabase CLI with Docker (`supabase start`)\n',
    })
  },
)

testByNobody(
  'a cache folder without the right to write is named, with the variable for another',
  async (place) => {
    const registry = await startRegistry()
    try {
      const { code, stderr } = await startAsNobody(place, {
        env: { NPM_CONFIG_REGISTRY: registry.url },
      })
      expect(code).toBe(1)
      const [, told, ...error] = stderr.trimEnd().split('\n')
      expect(told).toBe(
        `The cache folder ${place.cache} is not writable: set another one in DENO_DIR`,
      )
      expect(error.length).toBeLessThanOrEqual(3)
      expect(error[0]).toMatch(/^ {2}.*Permission denied/)
      expect(await Array.fromAsync(Deno.readDir(place.cache))).toEqual([])
    } finally {
      await registry.close()
    }
  },
)
