import { freePort } from '../../supabase/local/process/ports.ts'
import { patienceMs } from './patience.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { spawnGuarded } from '../../supabase/local/process/watchdog.ts'
import { findPrometheus, type PrometheusBinaries } from './prometheus_binaries.ts'

/** One series of an answer: its labels and its values, oldest first, with Unix seconds. */
export interface Series {
  metric: Record<string, string>
  values: [at: number, value: number][]
}

export interface Alert {
  name: string
  state: 'pending' | 'firing'
  labels: Record<string, string>
  activeAt: string
}

/** A running Prometheus. */
export interface Prometheus {
  readonly url: string
  /** The value of each series now. */
  query(expression: string): Promise<Series[]>
  /** The values of each series from `from` to `to`, in Unix seconds. */
  range(expression: string, from: number, to: number, step: number): Promise<Series[]>
  alerts(): Promise<Alert[]>
  stop(): Promise<void>
}

/** Runs a program to its end: what it wrote, and whether it was content. */
export async function runTool(
  path: string,
  args: string[],
  input = '',
): Promise<{ success: boolean; text: string }> {
  const child = new Deno.Command(path, {
    args,
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const writer = child.stdin.getWriter()
  await writer.write(new TextEncoder().encode(input))
  await writer.close()
  const { success, stdout, stderr } = await child.output()
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
  return { success, text: decode(stdout) + decode(stderr) }
}

/** Starts Prometheus on a free port. `config` is its configuration file, its data are in `folder`. */
export async function startPrometheus(
  { folder, config }: { folder: string; config: string },
): Promise<Prometheus> {
  const { prometheus } = await findPrometheus()
  await Deno.mkdir(folder, { recursive: true })
  await Deno.writeTextFile(`${folder}/prometheus.yml`, config)
  const server = await startServer(prometheus, folder, (port) => [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ])

  async function ask(path: string, query: Record<string, string>): Promise<Answer> {
    const response = await fetch(`${server.url}/api/v1/${path}?${new URLSearchParams(query)}`)
    // SAFETY: the form of Prometheus's HTTP API.
    const answer = await response.json() as { status: string; error?: string; data: Answer }
    if (answer.status !== 'success') throw new Error(`${query.query}: ${answer.error}`)
    return answer.data
  }

  return {
    url: server.url,
    async query(expression): Promise<Series[]> {
      const { result = [] } = await ask('query', { query: expression })
      return result.map(({ metric, value }) => series(metric, value === undefined ? [] : [value]))
    },
    async range(expression, from, to, step): Promise<Series[]> {
      const { result = [] } = await ask('query_range', {
        query: expression,
        start: String(from),
        end: String(to),
        step: String(step),
      })
      return result.map(({ metric, values = [] }) => series(metric, values))
    },
    async alerts(): Promise<Alert[]> {
      const { alerts = [] } = await ask('alerts', {})
      return alerts.map(({ labels, state, activeAt }) => ({
        name: labels.alertname ?? '',
        state,
        labels,
        activeAt,
      }))
    },
    stop: server.stop,
  }
}

/** Starts Alertmanager on a free port. `config` is its configuration file. */
export async function startAlertmanager(
  { folder, config }: { folder: string; config: string },
): Promise<{ url: string; stop(): Promise<void> }> {
  const { alertmanager } = await findPrometheus()
  await Deno.mkdir(folder, { recursive: true })
  await Deno.writeTextFile(`${folder}/alertmanager.yml`, config)
  return await startServer(alertmanager, folder, (port) => [
    `--config.file=${folder}/alertmanager.yml`,
    `--storage.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ])
}

async function startServer(
  program: string,
  folder: string,
  argsOf: (port: number) => string[],
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = freePort()
  const child = spawnGuarded({
    command: [program, ...argsOf(port)],
    cwd: folder,
    logFile: `${folder}/server.log`,
    stopSignal: 'TERM',
    forceSignal: 'KILL',
    graceSeconds: 5,
  })
  const url = `http://127.0.0.1:${port}`
  async function isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${url}/-/ready`)
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    }
  }
  if (!await waitUntil(isReady, { timeoutMs: patienceMs, everyMs: 100 })) {
    await child.stop()
    throw new Error(`${program} did not start: ${await Deno.readTextFile(`${folder}/server.log`)}`)
  }
  return { url, stop: () => child.stop() }
}

type Pair = [at: number, value: string]
interface Answer {
  result?: { metric: Record<string, string>; value?: Pair; values?: Pair[] }[]
  alerts?: { labels: Record<string, string>; state: Alert['state']; activeAt: string }[]
}

function series(metric: Record<string, string>, values: Pair[]): Series {
  return { metric, values: values.map(([at, value]) => [at, Number(value)]) }
}

export type { PrometheusBinaries }
