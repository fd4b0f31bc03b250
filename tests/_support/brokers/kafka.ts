import { ensureBrokers } from './install.ts'

/** Kafka's error codes that a test makes the cluster answer. */
export const kafkaError = {
  unknownTopic: 3,
  leaderNotAvailable: 5,
  messageTooLarge: 10,
  notEnoughReplicas: 19,
  topicAuthorizationFailed: 29,
} as const

/** Kafka's number of the request that carries records. */
export const produceRequest = 0

/**
 * A Kafka cluster of the test's own: librdkafka's mock, in this process. It keeps records in memory
 * as a real one does, elects leaders, runs consumer groups, and fails when it is told to. It makes
 * a topic with `partitions` partitions when it is first named.
 */
export interface TestKafka extends Disposable {
  /** `127.0.0.1:port` of each broker. */
  readonly bootstrap: string[]
  /** Closes a broker's connections and refuses new ones. Brokers count from 1. */
  down(broker: number): void
  /** Serves again, with what it had. */
  up(broker: number): void
  /** Delays each answer of a broker. */
  slow(broker: number, ms: number): void
  /** Answers the next requests of that kind with these codes, one each. */
  failNext(request: number, codes: number[]): void
  /** Answers everything about a topic with that code; 0 ends it. */
  failTopic(topic: string, code: number): void
  createTopic(topic: string, partitions: number): void
  /** Moves a partition to another broker. */
  setLeader(topic: string, partition: number, broker: number): void
}

const path = `/usr/lib/${Deno.build.arch}-linux-gnu/librdkafka.so.1`

const functions = {
  rd_kafka_conf_new: { parameters: [], result: 'pointer' },
  rd_kafka_conf_set: {
    parameters: ['pointer', 'buffer', 'buffer', 'buffer', 'usize'],
    result: 'i32',
  },
  rd_kafka_new: { parameters: ['i32', 'pointer', 'buffer', 'usize'], result: 'pointer' },
  rd_kafka_destroy: { parameters: ['pointer'], result: 'void' },
  rd_kafka_mock_cluster_new: { parameters: ['pointer', 'i32'], result: 'pointer' },
  rd_kafka_mock_cluster_destroy: { parameters: ['pointer'], result: 'void' },
  rd_kafka_mock_cluster_bootstraps: { parameters: ['pointer'], result: 'pointer' },
  rd_kafka_mock_broker_set_down: { parameters: ['pointer', 'i32'], result: 'i32' },
  rd_kafka_mock_broker_set_up: { parameters: ['pointer', 'i32'], result: 'i32' },
  rd_kafka_mock_broker_set_rtt: { parameters: ['pointer', 'i32', 'i32'], result: 'i32' },
  rd_kafka_mock_push_request_errors_array: {
    parameters: ['pointer', 'i16', 'usize', 'buffer'],
    result: 'void',
  },
  rd_kafka_mock_topic_set_error: { parameters: ['pointer', 'buffer', 'i32'], result: 'void' },
  rd_kafka_mock_topic_create: { parameters: ['pointer', 'buffer', 'i32', 'i32'], result: 'i32' },
  rd_kafka_mock_partition_set_leader: {
    parameters: ['pointer', 'buffer', 'i32', 'i32'],
    result: 'i32',
  },
} as const satisfies Deno.ForeignLibraryInterface

/** Starts a mock cluster with that many brokers on free ports, at once. */
export async function startKafka({ brokers = 3 } = {}): Promise<TestKafka> {
  await ensureBrokers({ log: () => {} })
  const library = Deno.dlopen(path, functions)
  const rd = library.symbols
  const problem = new Uint8Array(512)
  const conf = rd.rd_kafka_conf_new()
  // It would warn on standard error that no cluster is named.
  rd.rd_kafka_conf_set(conf, cString('log_level'), cString('3'), problem, BigInt(problem.length))
  // A handle of the library, as producer (0): the cluster's thread belongs to it.
  const handle = rd.rd_kafka_new(0, conf, problem, BigInt(problem.length))
  const cluster = rd.rd_kafka_mock_cluster_new(handle, brokers)
  const bootstraps = rd.rd_kafka_mock_cluster_bootstraps(cluster)
  if (bootstraps === null) throw new Error('librdkafka made no mock cluster')
  const bootstrap = new Deno.UnsafePointerView(bootstraps).getCString().split(',')

  return {
    bootstrap,
    down: (broker) => must(rd.rd_kafka_mock_broker_set_down(cluster, broker)),
    up: (broker) => must(rd.rd_kafka_mock_broker_set_up(cluster, broker)),
    slow: (broker, ms) => must(rd.rd_kafka_mock_broker_set_rtt(cluster, broker, ms)),
    failNext: (request, codes) =>
      rd.rd_kafka_mock_push_request_errors_array(
        cluster,
        request,
        BigInt(codes.length),
        Int32Array.from(codes),
      ),
    failTopic: (topic, code) => rd.rd_kafka_mock_topic_set_error(cluster, cString(topic), code),
    createTopic: (topic, partitions) =>
      must(rd.rd_kafka_mock_topic_create(cluster, cString(topic), partitions, brokers)),
    setLeader: (topic, partition, broker) =>
      must(rd.rd_kafka_mock_partition_set_leader(cluster, cString(topic), partition, broker)),
    [Symbol.dispose]: () => {
      rd.rd_kafka_mock_cluster_destroy(cluster)
      rd.rd_kafka_destroy(handle)
      library.close()
    },
  }
}

function must(code: number): void {
  if (code !== 0) throw new Error(`the mock cluster refused: ${code}`)
}

function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`)
}
