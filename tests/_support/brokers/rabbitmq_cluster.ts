import { freePort } from '../../../supabase/local/process/ports.ts'
import { testFolder } from '../folder.ts'
import { ensureBrokers } from './install.ts'
import {
  type NodePorts,
  password,
  type RabbitMqNode,
  startEpmd,
  startNode,
  user,
  vhost,
} from './rabbitmq_node.ts'

/** Three nodes of RabbitMQ that are one cluster; disposing of it stops them and removes their folder. */
export interface RabbitMqCluster extends AsyncDisposable {
  readonly nodes: readonly [RabbitMqNode, RabbitMqNode, RabbitMqNode]
  readonly user: string
  readonly password: string
  readonly vhost: string
  /** How a node sees a queue. */
  queue(name: string, asked: RabbitMqNode): Promise<QueueState | undefined>
  /** The nodes to which clients of this name are connected, as a node sees it. */
  clientsAt(connectionName: string, asked: RabbitMqNode): Promise<string[]>
}

/** A queue of a cluster; the nodes by their names. */
export interface QueueState {
  type: string
  leader: string
  /** Those that have a copy and are there. */
  online: string[]
  messages: number
}

/**
 * Starts a cluster from Debian's package on free ports of 127.0.0.1, with an epmd and a cookie of its own; takes
 * about 15 seconds. The queues of its virtual host are quorum queues unless a client says otherwise.
 */
export async function startRabbitMqCluster(): Promise<RabbitMqCluster> {
  await ensureBrokers({ log: () => {} })
  const home = testFolder()
  await Deno.mkdir(home, { recursive: true })
  const epmd = startEpmd(home)
  const started: RabbitMqNode[] = []
  const freePorts = (): NodePorts => ({ port: freePort(), distPort: freePort() })
  const cluster = [freePorts(), freePorts(), freePorts()] as const

  async function dispose(): Promise<void> {
    // Nobody reads its data again.
    for (const node of started) await node[Symbol.asyncDispose]()
    await epmd.child.stop()
    await Deno.remove(home, { recursive: true }).catch(() => {})
  }

  async function startOne(ports: NodePorts): Promise<RabbitMqNode> {
    const node = await startNode({
      ...ports,
      folder: `${home}/node-${ports.port}`,
      home,
      epmdPort: epmd.port,
      tls: null,
      cluster,
      vhostMetadata: { default_queue_type: 'quorum' },
    })
    started.push(node)
    return node
  }

  async function startAll(): Promise<RabbitMqCluster['nodes']> {
    const [first, second, third] = cluster
    // It has nobody to join, and the others join it.
    const founder = await startOne(first)
    return [founder, ...await Promise.all([startOne(second), startOne(third)])]
  }

  async function queue(name: string, asked: RabbitMqNode): Promise<QueueState | undefined> {
    const columns = ['name', 'type', 'leader', 'online', 'messages']
    const rows = await asked.table('--vhost', vhost, 'list_queues', ...columns)
    const found = rows.find(([own]) => own === name)
    if (found === undefined) return undefined
    const [, type = '', leader = '', online = '', messages] = found
    return { type, leader, online: namesIn(online), messages: Number(messages) }
  }

  async function clientsAt(connectionName: string, asked: RabbitMqNode): Promise<string[]> {
    const rows = await asked.table('list_connections', 'client_properties', 'pid')
    return rows.filter(([properties = '']) => properties.includes(`"${connectionName}"`))
      .flatMap(([, pid = '']) => namesIn(pid))
  }

  try {
    const nodes = await startAll()
    return { nodes, user, password, vhost, queue, clientsAt, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** The names of nodes in a list as rabbitmqctl prints it. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/outhook\d+@localhost/g)].map(([name]) => name)
}
