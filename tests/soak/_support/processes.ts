import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** A process of its own, watched through /proc. */
export interface Watched {
  /** Where it listens; empty for a worker. */
  readonly url: string
  readonly pid: number
  /** Memory in use that no other process shares the cost of. */
  rssMb(): number
  /** Open sockets, the database's included. */
  sockets(): number
  /** Ends it by SIGTERM and gives its exit code. Calling it twice is no error. */
  stop(): Promise<number>
}

/** Starts a worker with the very options of `deno task worker`. */
export function startTaskWorker(dbUrl: string): Watched {
  const config = z.object({ tasks: z.object({ worker: z.object({ command: z.string() }) }) })
  const { tasks } = config.parse(JSON.parse(Deno.readTextFileSync(`${projectRoot}/deno.json`)))
  // Behind the variables that it sets and the name of the program.
  const words = tasks.worker.command.split(' ')
  const args = words.slice(words.indexOf('deno') + 1)
  return watch(spawn(args, { OUTHOOK_DB_URL: dbUrl, OUTHOOK_PROJECT: 'local' }, 'null'), '')
}

/** Starts a receiver that answers 200 on every address of the machine's loopback. */
export async function startSink(): Promise<Watched> {
  const child = spawn(
    ['run', '-A', '--cached-only', fileURLToPath(import.meta.resolve('./sink.ts'))],
    {},
    'piped',
  )
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  const port = new TextDecoder().decode(value).trim()
  return watch(child, `http://127.0.0.1:${port}`)
}

function spawn(
  args: string[],
  env: Record<string, string>,
  stdout: 'piped' | 'null',
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), { args, cwd: projectRoot, env, stdout }).spawn()
}

function watch(child: Deno.ChildProcess, url: string): Watched {
  let isStopping = false
  return {
    url,
    pid: child.pid,
    rssMb: () => {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`)
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_000
    },
    sockets: () => {
      const folder = `/proc/${child.pid}/fd`
      return [...Deno.readDirSync(folder)].filter(({ name }) => isSocket(`${folder}/${name}`))
        .length
    },
    stop: async () => {
      if (!isStopping) child.kill('SIGTERM')
      isStopping = true
      return (await child.status).code
    },
  }
}

function isSocket(path: string): boolean {
  try {
    return Deno.readLinkSync(path).startsWith('socket:')
  } catch {
    return false
  }
}
