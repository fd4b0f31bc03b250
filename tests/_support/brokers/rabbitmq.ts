import { freePort } from '../../../supabase/local/process/ports.ts'
import { testFolder } from '../folder.ts'
import { makeCertificates, type TestCertificates } from './certificates.ts'
import { ensureBrokers } from './install.ts'
import { password, startEpmd, startNode, user, vhost } from './rabbitmq_node.ts'

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
  /** How many messages each queue has, also those that a consumer has not acknowledged. */
  messages(): Promise<Map<string, number>>
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

/** Starts RabbitMQ from Debian's package on free ports; takes about five seconds: share one. */
export async function startRabbitMq(options: { tls?: boolean } = {}): Promise<TestRabbitMq> {
  await ensureBrokers({ log: () => {} })
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const certificates = options.tls === true ? await makeCertificates(`${folder}/tls`) : null
  const tls = certificates === null ? null : { port: freePort(), certificates }
  const port = freePort()
  const epmd = startEpmd(folder)

  async function end(): Promise<void> {
    await epmd.child.stop()
    await Deno.remove(folder, { recursive: true }).catch(() => {})
  }

  const node = await startNode({
    folder,
    home: folder,
    port,
    distPort: freePort(),
    epmdPort: epmd.port,
    tls,
  }).catch(async (error) => {
    await end()
    throw error
  })

  async function messages(): Promise<Map<string, number>> {
    const rows = await node.table('--vhost', vhost, 'list_queues', 'name', 'messages')
    return new Map(rows.map(([name = '', count]) => [name, Number(count)]))
  }

  return {
    host: '127.0.0.1',
    port,
    tlsPort: tls?.port ?? null,
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
    stop: node.stop,
    start: node.start,
    messages,
    log: node.log,
    async [Symbol.asyncDispose](): Promise<void> {
      // Nobody reads its data again.
      await node[Symbol.asyncDispose]()
      await end()
    },
  }
}
