import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { receiverPackages } from '../_run/tools.ts'
import { testFolder } from '../_support/folder.ts'
import { docsBlock } from './_docs.ts'

/** What a receiver has done: ids that it has noted, and orders that it has entered. */
export interface Work {
  noted: number
  orders: string[]
}

/** One of the pages' receivers, running. */
export interface RunningReceiver extends AsyncDisposable {
  readonly port: number
  /** What it has done so far, as its own database says. */
  work(): Promise<Work>
  /** Presses Ctrl-C, and resolves with all that it has said once it has ended. */
  interrupt(): Promise<string>
}

/** One of the pages' receivers. */
export interface DocsReceiver {
  name: string
  /** Starts it with a signing secret and a database of its own; port 0 takes any free one. */
  start(options: { secret: string; port?: number }): Promise<RunningReceiver>
}

/** The pages' receivers, their programs in a folder of the test's own. */
export interface DocsReceivers extends AsyncDisposable {
  readonly all: DocsReceiver[]
}

const NO_PYTHON =
  'Cannot start python3: install Python 3.9 or newer (Debian: apt-get install python3)'
const NO_NODE = 'Cannot start node: install Node.js 20 or newer'

/**
 * Writes the pages' receivers into a folder, beside what is said that they need. Their
 * databases are made in `pg`. Disposing of them removes the folder.
 */
export async function makeReceivers(
  pg: Pick<Postgres, 'psql' | 'dbUrl'>,
): Promise<DocsReceivers> {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  for (const name of ['receiver.mjs', 'receiver.ts', 'receiver.py']) {
    await Deno.writeTextFile(join(folder, name), docsBlock(name))
  }
  await Deno.symlink(await receiverPackages(projectRoot), join(folder, 'node_modules'))
  const deno = [
    ...['run', '--no-config', '--no-lock', '--cached-only', '--check'],
    ...['--allow-net', '--allow-env'],
  ]
  const all: DocsReceiver[] = [
    withPostgres('Node.js with Express', ['node', 'receiver.mjs'], NO_NODE),
    withPostgres('Deno', [Deno.execPath(), ...deno, 'receiver.ts'], 'Cannot start Deno'),
    { name: 'Python', start: startPython },
  ]
  return { all, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) }

  function withPostgres(name: string, command: string[], remedy: string): DocsReceiver {
    return {
      name,
      async start({ secret, port = 0 }): Promise<RunningReceiver> {
        const database = `receiver_${crypto.randomUUID().slice(0, 8)}`
        await ask(pg, 'postgres', `create database ${database}`)
        await ask(pg, database, docsBlock('receiver-tables'))
        const url = new URL(pg.dbUrl)
        url.pathname = database
        const env = { WEBHOOK_SECRET: secret, DATABASE_URL: url.href, PORT: String(port) }
        const running = await run({ command, env, folder, remedy })
        return { ...running, work: async () => readWork(await ask(pg, database, WORK)) }
      },
    }
  }

  async function startPython(
    { secret, port = 0 }: { secret: string; port?: number },
  ): Promise<RunningReceiver> {
    const database = join(folder, `${crypto.randomUUID()}.db`)
    const env = { WEBHOOK_SECRET: secret, DATABASE: database, PORT: String(port) }
    const command = ['python3', 'receiver.py']
    const running = await run({ command, env, folder, remedy: NO_PYTHON })
    const script =
      'import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):' +
      ' print(*row, sep="|")'
    return {
      ...running,
      work: async () =>
        readWork(await output('python3', ['-c', script, database, WORK], NO_PYTHON)),
    }
  }
}

const WORK = `select (select count(*) from processed_webhook), o.id || ' ' || o.total
  from (select 1) x left join paid_order o on true order by o.id`

function readWork(rows: string): Work {
  const cells = rows.split('\n').map((row) => row.split('|'))
  const orders = cells.map(([, order = '']) => order)
  return {
    noted: Number(cells[0]?.[0]),
    orders: orders.filter((order) => order !== '' && order !== 'None'),
  }
}

async function ask(pg: Pick<Postgres, 'psql'>, database: string, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql, { args: ['-d', database] })
  if (code !== 0) throw new Error(`Cannot ask database ${database}: ${stderr}`)
  return stdout
}

async function output(command: string, args: string[], remedy: string): Promise<string> {
  const ended = await new Deno.Command(command, { args, stdin: 'null' }).output()
    .catch((cause) => {
      throw new Error(remedy, { cause })
    })
  const decoder = new TextDecoder()
  if (!ended.success) throw new Error(`${command} failed: ${decoder.decode(ended.stderr)}`)
  return decoder.decode(ended.stdout).trimEnd()
}

/** Starts a program that prints the URL it listens on, and resolves when it has. */
async function run(
  { command: [path = '', ...args], env, folder, remedy }: {
    command: string[]
    env: Record<string, string>
    folder: string
    remedy: string
  },
): Promise<Omit<RunningReceiver, 'work'>> {
  let child: Deno.ChildProcess
  try {
    child = new Deno.Command(path, {
      args,
      cwd: folder,
      env: { ...env, NO_COLOR: '1' },
      stdin: 'null',
      stdout: 'piped',
      stderr: 'piped',
    }).spawn()
  } catch (cause) {
    throw new Error(remedy, { cause })
  }
  const heard = listen(child)
  const port = await heard.port.catch(async (error) => {
    await child.status
    throw error
  })
  let isEnding = false
  async function stop(signal: Deno.Signal): Promise<string> {
    if (!isEnding) child.kill(signal)
    isEnding = true
    await child.status
    return await heard.ended
  }
  return {
    port,
    interrupt: () => stop('SIGINT'),
    [Symbol.asyncDispose]: async () => void await stop('SIGTERM'),
  }
}

/** The port that the program names, and all that it has said when it has ended. */
function listen(child: Deno.ChildProcess): { port: Promise<number>; ended: Promise<string> } {
  const port = Promise.withResolvers<number>()
  let said = ''
  async function read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      said += text
      const found = /Listening on http:\/\/[^\s/]+:(\d+)/.exec(said)?.[1]
      if (found !== undefined) port.resolve(Number(found))
    }
  }
  const ended = Promise.all([read(child.stdout), read(child.stderr)]).then(() => {
    port.reject(new Error(`The receiver ended before it listened: ${said}`))
    return said
  })
  return { port: port.promise, ended }
}
