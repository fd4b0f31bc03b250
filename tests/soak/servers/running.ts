import { spawnGuarded } from '../../../supabase/local/process/watchdog.ts'
import { freePort } from '../../../supabase/local/process/ports.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { testFolder } from '../../_support/folder.ts'
import { patienceMs } from '../../_support/patience.ts'
import { processesIn } from '../../_support/processes_in.ts'
import type { Place, Recipe } from './recipe.ts'

/** A server that runs; disposing of it ends it and removes its folder. */
export interface RunningServer extends AsyncDisposable {
  /** Where it echoes. */
  readonly url: string
  /** Replaces its workers without closing the port. Throws if the recipe has no signal for it. */
  reload(): Promise<void>
  /** Kills all of its processes and starts it again on the same port. */
  restart(): Promise<void>
}

/** Starts a server from its recipe on a free port, in a folder of its own. */
export async function startServer(
  recipe: Recipe,
  { certFile, keyFile }: Pick<Place, 'certFile' | 'keyFile'>,
): Promise<RunningServer> {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const place = { folder, port: freePort(), certFile, keyFile }
  for (const [name, text] of Object.entries(recipe.files(place))) {
    await Deno.writeTextFile(`${folder}/${name}`, text)
  }

  async function start(): Promise<void> {
    let hasEnded = false
    void spawnGuarded({
      command: ['sh', '-c', 'echo $$ >pid; exec "$@"', 'sh', ...recipe.command(place)],
      cwd: folder,
      logFile: `${folder}/output.log`,
      stopSignal: 'TERM',
      forceSignal: 'KILL',
      graceSeconds: 2,
    }).ended.then(() => hasEnded = true)
    const isUp = await waitUntil(() => hasEnded || accepts(place.port), { timeoutMs: patienceMs })
    if (isUp && !hasEnded) return
    const log = await Deno.readTextFile(`${folder}/output.log`).catch(() => '')
    throw new Error(`${recipe.name} did not start: ${log.slice(-2_000)}`)
  }

  async function kill(): Promise<void> {
    const isGone = await waitUntil(async () => {
      const left = await processesIn(folder)
      for (const line of left) killIfAlive(Number.parseInt(line))
      return left.length === 0
    }, { timeoutMs: patienceMs })
    if (!isGone) throw new Error(`${recipe.name} cannot be killed`)
  }

  await start().catch(async (error) => {
    await kill()
    throw error
  })
  return {
    url: `${recipe.scheme}://127.0.0.1:${place.port}${recipe.path}`,
    reload: async () => {
      if (recipe.reload === null) throw new Error(`${recipe.name} cannot reload`)
      Deno.kill(Number(await Deno.readTextFile(`${folder}/pid`)), recipe.reload)
    },
    restart: async () => {
      await kill()
      await start()
    },
    [Symbol.asyncDispose]: async () => {
      await kill()
      await Deno.remove(folder, { recursive: true })
    },
  }
}

function killIfAlive(pid: number): void {
  try {
    Deno.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended since it was listed.
    if (!(error instanceof Deno.errors.NotFound || error instanceof TypeError)) throw error
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
