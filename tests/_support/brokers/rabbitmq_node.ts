import { freePort } from '../../../supabase/local/process/ports.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { type GuardedChild, spawnGuarded } from '../../../supabase/local/process/watchdog.ts'
import { patienceMs } from '../patience.ts'
import type { TestCertificates } from './certificates.ts'

/** One server of RabbitMQ; disposing of it stops it, and leaves its folder. */
export interface RabbitMqNode extends AsyncDisposable {
  /** Its name in a cluster. */
  readonly name: string
  readonly port: number
  /** Ends it by request (connections are closed with 320) or, with `hard`, by SIGKILL. */
  stop(options?: { hard?: boolean }): Promise<void>
  /** Starts it again on the same ports and the same data. */
  start(): Promise<void>
  /** The lines of a command of rabbitmqctl that prints a table, each as its cells. */
  table(...args: string[]): Promise<string[][]>
  /** What its log says, for a test that fails. */
  log(): Promise<string>
}

export type NodePorts = { port: number; distPort: number }

export type NodeOptions = NodePorts & {
  /** Its own. */
  folder: string
  /** Where its cookie is: the same one for all nodes of a cluster. */
  home: string
  /** The port of the epmd by which it finds the others. */
  epmdPort: number
  tls: { port: number; certificates: TestCertificates } | null
  /** The ports of all nodes of the cluster, the first one first. */
  cluster?: readonly NodePorts[]
  vhostMetadata?: Record<string, string>
}

export const user = 'outhook test'
/** Holds characters that URLs and shells treat as special. */
export const password = 'p@ss:w/o#r%d?&"ü'
/** A virtual host whose name needs escaping, too. */
export const vhost = 'orders/eu west'

const bin = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const ctl = '/usr/lib/rabbitmq/bin/rabbitmqctl'

const nameOf = ({ port }: NodePorts): string => `outhook${port}@localhost`

/** Starts an epmd of the test's own, so that no other copy is known to its nodes. */
export function startEpmd(folder: string): { port: number; child: GuardedChild } {
  const port = freePort()
  const child = spawnGuarded({
    command: ['epmd', '-address', '127.0.0.1', '-port', String(port)],
    cwd: '/',
    logFile: `${folder}/epmd.log`,
    stopSignal: 'TERM',
    forceSignal: 'KILL',
    graceSeconds: 2,
  })
  return { port, child }
}

/** Starts a server from Debian's package. */
export async function startNode(options: NodeOptions): Promise<RabbitMqNode> {
  const { folder, port, tls } = options
  await Deno.mkdir(folder, { recursive: true })
  await writeConfiguration(options)
  const env = environment(options)
  let server: GuardedChild | null = null

  async function start(): Promise<void> {
    const child = spawnGuarded({
      command: [bin],
      cwd: folder,
      env,
      logFile: `${folder}/output.log`,
      stopSignal: 'TERM',
      forceSignal: 'KILL',
      graceSeconds: 20,
    })
    server = child
    let ended = false
    void child.ended.then(() => ended = true)
    // Without TLS first, and a port that is taken ends the server as late as that.
    const ports = tls === null ? [port] : [port, tls.port]
    const isUp = await waitUntil(
      async () => ended || (await Promise.all(ports.map(isListening))).every(Boolean),
      { timeoutMs: patienceMs },
    )
    if (!isUp || ended) {
      server = null
      await child.stop()
      throw new Error(`RabbitMQ did not start: ${await log()}`)
    }
    // It listens before its start ends, and refuses commands until then. Of one node nobody asks anything.
    if (options.cluster !== undefined) {
      await command('await_startup', '--timeout', String(patienceMs / 1000))
    }
  }

  async function stop({ hard = false } = {}): Promise<void> {
    if (server === null) return
    const ending = server
    server = null
    let isDone = false
    void ending.ended.then(() => isDone = true)
    // To the server itself: its script would start a second Erlang to end the first.
    Deno.kill(Number(await Deno.readTextFile(`${folder}/pid`)), hard ? 'SIGKILL' : 'SIGTERM')
    if (!await waitUntil(() => isDone, { timeoutMs: patienceMs })) await ending.stop()
  }

  async function log(): Promise<string> {
    return (await Deno.readTextFile(`${folder}/output.log`).catch(() => '')).slice(-4_000)
  }

  async function command(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command(ctl, {
      args: ['--quiet', ...args],
      env,
      stdin: 'null',
    }).output()
    const text = new TextDecoder()
    if (!success) throw new Error(`rabbitmqctl: ${text.decode(stdout)}${text.decode(stderr)}`)
    return text.decode(stdout)
  }

  async function table(...args: string[]): Promise<string[][]> {
    const printed = await command(...args, '--no-table-headers')
    return printed.split('\n').filter((line) => line !== '').map((line) => line.split('\t'))
  }

  await start()
  return {
    name: nameOf(options),
    port,
    stop,
    start,
    table,
    log,
    [Symbol.asyncDispose]: () => stop({ hard: true }),
  }
}

/** Everything that two copies would share by default lies in the folder or on a port of its own. */
function environment(
  options: NodeOptions,
): Record<string, string> {
  const { folder, home, port, epmdPort, distPort } = options
  return {
    HOME: home,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: nameOf(options),
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_CONF_ENV_FILE: `${folder}/env.conf`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq.conf`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/plugins`,
    RABBITMQ_MNESIA_BASE: `${folder}/data`,
    RABBITMQ_LOG_BASE: `${folder}/logs`,
    RABBITMQ_LOGS: '-',
    RABBITMQ_PID_FILE: `${folder}/pid`,
    // One scheduler: beside other tests more of them only wait for each other.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
  }
}

async function writeConfiguration(
  { folder, port, tls, cluster = [], vhostMetadata = {} }: NodeOptions,
): Promise<void> {
  const ssl = tls === null ? [] : [
    `listeners.ssl.default = 127.0.0.1:${tls.port}`,
    `ssl_options.cacertfile = ${tls.certificates.caFile}`,
    `ssl_options.certfile = ${tls.certificates.certFile}`,
    `ssl_options.keyfile = ${tls.certificates.keyFile}`,
  ]
  const peers = cluster.length === 0 ? [] : [
    'cluster_formation.peer_discovery_backend = classic_config',
    ...cluster.map((node, at) =>
      `cluster_formation.classic_config.nodes.${at + 1} = ${nameOf(node)}`
    ),
  ]
  const lines = [
    `listeners.tcp.default = 127.0.0.1:${port}`,
    ...ssl,
    ...peers,
    `load_definitions = ${folder}/definitions.json`,
    'log.console.level = warning',
    'disk_free_limit.absolute = 1MB',
  ]
  await Deno.writeTextFile(`${folder}/rabbitmq.conf`, lines.join('\n') + '\n')
  await Deno.writeTextFile(`${folder}/env.conf`, '')
  await Deno.writeTextFile(`${folder}/plugins`, '[].\n')
  const definitions = {
    users: [{ name: user, password, tags: 'administrator' }],
    vhosts: [{ name: vhost, metadata: vhostMetadata }],
    permissions: [{ user, vhost, configure: '.*', write: '.*', read: '.*' }],
  }
  await Deno.writeTextFile(`${folder}/definitions.json`, JSON.stringify(definitions))
}

async function isListening(port: number): Promise<boolean> {
  try {
    const conn = await Deno.connect({ hostname: '127.0.0.1', port })
    conn.close()
    return true
  } catch {
    return false
  }
}
