import { freePort } from '../../../supabase/local/process/ports.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { type GuardedChild, spawnGuarded } from '../../../supabase/local/process/watchdog.ts'
import { testFolder } from '../folder.ts'
import { patienceMs } from '../patience.ts'
import { makeCertificates, type TestCertificates } from './certificates.ts'
import { ensureBrokers } from './install.ts'

/** A RabbitMQ of the test's own; disposing of it stops it and removes its folder. */
export interface TestRabbitMq extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** Speaks TLS with `certificates`; null unless it was asked for. */
  readonly tlsPort: number | null
  readonly certificates: TestCertificates | null
  readonly user: string
  /** Holds characters that URLs and shells treat as special. */
  readonly password: string
  /** A virtual host whose name needs escaping, too. */
  readonly vhost: string
  /** What amqplib's connect() takes; a URL would not do, since it reads no UTF-8 there. */
  readonly options: RabbitMqOptions
  /** Ends it by request (connections are closed with 320) or, with `hard`, by SIGKILL. */
  stop(options?: { hard?: boolean }): Promise<void>
  /** Starts it again on the same ports and the same data. */
  start(): Promise<void>
  /** What its log says, for a test that fails. */
  log(): Promise<string>
}

/** amqplib unescapes the virtual host even here. */
export interface RabbitMqOptions {
  protocol: 'amqp'
  hostname: string
  port: number
  username: string
  password: string
  vhost: string
}

const bin = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const user = 'outhook test'
const password = 'p@ss:w/o#r%d?&"ü'
const vhost = 'orders/eu west'

/** Starts RabbitMQ from Debian's package on free ports; takes about five seconds: share one. */
export async function startRabbitMq(options: { tls?: boolean } = {}): Promise<TestRabbitMq> {
  await ensureBrokers({ log: () => {} })
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const certificates = options.tls === true ? await makeCertificates(`${folder}/tls`) : null
  const port = freePort()
  const tlsPort = certificates === null ? null : freePort()
  const epmdPort = freePort()
  await writeConfiguration(folder, port, tlsPort, certificates)
  const epmd = spawnGuarded({
    command: ['epmd', '-address', '127.0.0.1', '-port', String(epmdPort)],
    cwd: '/',
    logFile: `${folder}/epmd.log`,
    stopSignal: 'TERM',
    forceSignal: 'KILL',
    graceSeconds: 2,
  })
  const env = environment(folder, { port, epmdPort, distPort: freePort() })
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
    let ended = false
    void child.ended.then(() => ended = true)
    const isUp = await waitUntil(() => ended || isListening(port), { timeoutMs: patienceMs })
    if (!isUp || ended) throw new Error(`RabbitMQ did not start: ${await log()}`)
    server = child
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

  async function dispose(): Promise<void> {
    // Nobody reads its data again.
    await stop({ hard: true })
    await epmd.stop()
    await Deno.remove(folder, { recursive: true }).catch(() => {})
  }

  await start().catch(async (error) => {
    await dispose()
    throw error
  })
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    certificates,
    user,
    password,
    vhost,
    options: {
      protocol: 'amqp',
      hostname: '127.0.0.1',
      port,
      username: user,
      password,
      vhost: encodeURIComponent(vhost),
    },
    stop,
    start,
    log,
    [Symbol.asyncDispose]: dispose,
  }
}

type Ports = { port: number; epmdPort: number; distPort: number }

/** Everything that two copies would share by default lies in the folder or on a port of its own. */
function environment(
  folder: string,
  { port, epmdPort, distPort }: Ports,
): Record<string, string> {
  return {
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `outhook${port}@localhost`,
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
  folder: string,
  port: number,
  tlsPort: number | null,
  certificates: TestCertificates | null,
): Promise<void> {
  const tls = certificates === null ? [] : [
    `listeners.ssl.default = 127.0.0.1:${tlsPort}`,
    `ssl_options.cacertfile = ${certificates.caFile}`,
    `ssl_options.certfile = ${certificates.certFile}`,
    `ssl_options.keyfile = ${certificates.keyFile}`,
  ]
  const lines = [
    `listeners.tcp.default = 127.0.0.1:${port}`,
    ...tls,
    `load_definitions = ${folder}/definitions.json`,
    'log.console.level = warning',
    'disk_free_limit.absolute = 1MB',
  ]
  await Deno.writeTextFile(`${folder}/rabbitmq.conf`, lines.join('\n') + '\n')
  await Deno.writeTextFile(`${folder}/env.conf`, '')
  await Deno.writeTextFile(`${folder}/plugins`, '[].\n')
  const definitions = {
    users: [{ name: user, password, tags: 'administrator' }],
    vhosts: [{ name: vhost }],
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
