import { join } from 'node:path'
import { freePort } from '../../supabase/local/process/ports.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { serverUser } from '../../supabase/local/postgres/server_user.ts'
import { testFolder } from './folder.ts'
import { patienceMs } from './patience.ts'

/** Debian's PgBouncer with its own defaults, in front of a test's database. */
export interface PgBouncer extends AsyncDisposable {
  /** The connection string of the role postgres through the pooler. */
  readonly url: string
}

/** Starts PgBouncer in front of `dbUrl`. It keeps at most `servers` connections to the database. */
export async function startPgBouncer(
  { dbUrl, mode, servers }: { dbUrl: string; mode: 'session' | 'transaction'; servers: number },
): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(dbUrl)
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const own = freePort()
  const database = pathname.slice(1)
  const target = `host=${hostname} port=${port} dbname=${database} user=${username}`
  const settings = [
    '[databases]',
    `${database} = ${target} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${servers}`,
  ]
  const file = join(folder, 'pgbouncer.ini')
  await Deno.writeTextFile(file, `${settings.join('\n')}\n`)
  const { prefix, own: giveTo } = await serverUser(folder)
  for (const path of [folder, file]) await giveTo(path)
  const [program = '', ...args] = [...prefix, 'pgbouncer', file]
  const child = new Deno.Command(program, {
    args,
    cwd: '/',
    stdin: 'null',
    stdout: 'null',
    stderr: 'null',
  }).spawn()
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await child.status
    await Deno.remove(folder, { recursive: true })
  }
  if (!await waitUntil(() => accepts(own), { timeoutMs: patienceMs })) {
    await stop()
    throw new Error('pgbouncer does not start')
  }
  return {
    url: `postgresql://${username}@127.0.0.1:${own}/${database}`,
    [Symbol.asyncDispose]: stop,
  }
}

async function accepts(port: number): Promise<boolean> {
  try {
    const connection = await Deno.connect({ hostname: '127.0.0.1', port })
    connection.close()
    return true
  } catch {
    return false
  }
}
