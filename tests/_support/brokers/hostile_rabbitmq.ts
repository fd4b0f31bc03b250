import type { ChannelModel } from 'amqplib'
import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'

/** What a broker has to write when a client has written something, by its class and method. */
export type AmqpAnswers = Record<string, (channel: number) => Uint8Array[]>

/** A broker of AMQP 0-9-1 that answers as it is told to. */
export interface HostileRabbitMq extends Disposable {
  readonly port: number
  /** Resolves with true when no client has an open socket any more, also none that is half closed; false after 10 s. */
  gone(): Promise<boolean>
}

const names = {
  start: [10, 10],
  tune: [10, 30],
  openOk: [10, 41],
  closeOk: [10, 51],
  channelOpenOk: [20, 11],
  channelCloseOk: [20, 41],
  selectOk: [85, 11],
  return: [60, 50],
  ack: [60, 80],
  nack: [60, 120],
} as const

/** One method of the broker. */
export function method(channel: number, name: keyof typeof names, ...fields: Buffer[]): Buffer {
  const [classId, methodId] = names[name]
  return frame(1, channel, Buffer.concat([short(classId), short(methodId), ...fields]))
}

/** A frame: 1 is a method, 2 a header, 3 a body. */
export function frame(type: number, channel: number, payload: Uint8Array): Buffer {
  const head = Buffer.concat([Buffer.from([type]), short(channel), long(payload.length)])
  return Buffer.concat([head, payload, Buffer.from([0xce])])
}

export function short(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export function long(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A number of eight bytes. */
export function longLong(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}

export function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
}

function longText(text: string): Buffer {
  return Buffer.concat([long(text.length), Buffer.from(text)])
}

/** A handshake as RabbitMQ has it, up to a channel that confirms. */
const usual: AmqpAnswers = {
  header: () => [
    method(0, 'start', Buffer.from([0, 9]), long(0), longText('PLAIN'), longText('en_US')),
  ],
  '10.11': () => [method(0, 'tune', short(2047), long(131_072), short(0))],
  '10.40': () => [method(0, 'openOk', shortText(''))],
  '10.50': () => [method(0, 'closeOk')],
  '20.10': (channel) => [method(channel, 'channelOpenOk', longText(''))],
  '20.40': (channel) => [method(channel, 'channelCloseOk')],
  '85.10': (channel) => [method(channel, 'selectOk')],
}

/** Starts it; `answers` replace those of a usual broker. `60.40` is a published message. */
export function startHostileRabbitMq(answers: AmqpAnswers): HostileRabbitMq {
  const all = { ...usual, ...answers }
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open = new Set<Deno.Conn>()
  /** Whose client has ended its side. */
  const ended = new Set<Deno.Conn>()
  void accept()

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      open.add(conn)
      // A client that closes is no failure of the test.
      void serve(conn).catch(() => {}).finally(() => ended.add(conn))
    }
  }

  async function serve(conn: Deno.Conn): Promise<void> {
    let rest = Buffer.alloc(0)
    let hasHeader = false
    const chunk = new Uint8Array(65_536)
    // It never ends its own side.
    for (let n = await conn.read(chunk); n !== null; n = await conn.read(chunk)) {
      rest = Buffer.concat([rest, chunk.subarray(0, n)])
      if (!hasHeader && rest.length >= 8) {
        hasHeader = true
        rest = rest.subarray(8)
        await write(conn, all.header?.(0) ?? [])
      }
      while (hasHeader && rest.length >= 7 && rest.length >= 8 + rest.readUInt32BE(3)) {
        const payload = rest.subarray(7, 7 + rest.readUInt32BE(3))
        const [type, channel] = [rest[0], rest.readUInt16BE(1)]
        rest = rest.subarray(8 + payload.length)
        if (type !== 1) continue
        const name = `${payload.readUInt16BE(0)}.${payload.readUInt16BE(2)}`
        await write(conn, all[name]?.(channel) ?? [])
      }
    }
  }

  return {
    port: listener.addr.port,
    gone: async () => {
      // Only an ended connection is written to: a healthy one would be closed for the bytes that are no frame.
      const isGone = async (conn: Deno.Conn): Promise<boolean> =>
        ended.has(conn) && await conn.write(new Uint8Array(1)).then(() => false, () => true)
      for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
        if ((await Promise.all([...open].map(isGone))).every((gone) => gone)) return true
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return false
    },
    [Symbol.dispose]: () => {
      listener.close()
      for (const conn of open) {
        try {
          conn.close()
        } catch {
          // Its stream has closed it.
        }
      }
    },
  }
}

/** Closes a connection of amqplib, with the socket that this broker keeps open, and waits until it is gone. */
export async function closeFully(model: ChannelModel, broker: HostileRabbitMq): Promise<void> {
  await model.close().catch(() => {})
  // SAFETY: the version of amqplib is pinned, and its socket is this member.
  const socket = (model.connection as unknown as { stream: Socket }).stream
  // With an error, because amqplib keeps the timers of its heartbeats after a socket that closes without one.
  socket.destroy(new Error('closed'))
  await broker.gone()
}

async function write(conn: Deno.Conn, parts: Uint8Array[]): Promise<void> {
  for (const part of parts) {
    for (let at = 0; at < part.length;) at += await conn.write(part.subarray(at))
  }
}
