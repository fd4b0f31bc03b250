/**
 * A relay to the database that delays each direction, as a process of its own, because the kernel may have no
 * means for it:
 *
 *   deno run -A tests/bench/engine/relay.ts <port of the database> <ms>
 *
 * It prints its port, and ends with its input.
 */

import { pause } from './pause.ts'

/** Passes on what comes, `ms` later and in the same order. */
async function passOn(from: Deno.Conn, to: Deno.Conn, ms: number): Promise<void> {
  const writer = to.writable.getWriter()
  let last: Promise<void> = Promise.resolve()
  try {
    for await (const chunk of from.readable) {
      const due = pause(ms)
      last = last.then(() => due).then(() => writer.write(chunk))
      // Whoever awaits the last one sees the error.
      last.catch(() => {})
    }
    await last
    await writer.close()
  } catch {
    // One end has closed the connection, and the other one sees that.
  }
}

async function relay(port: number, ms: number): Promise<void> {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  await Deno.stdout.write(new TextEncoder().encode(`${listener.addr.port}\n`))
  for await (const client of listener) {
    const server = await Deno.connect({ hostname: '127.0.0.1', port })
    server.setNoDelay(true)
    client.setNoDelay(true)
    void passOn(client, server, ms)
    void passOn(server, client, ms)
  }
}

/** A relay that runs. */
export interface Relay extends AsyncDisposable {
  port: number
  /** The CPU time of its process so far, in ms. */
  cpuMs(): number
}

/** Starts a relay to this port of this machine. */
export async function startRelay(port: number, ms: number): Promise<Relay> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--cached-only',
      '--no-check',
      new URL(import.meta.url).pathname,
      `${port}`,
      `${ms}`,
    ],
    stdin: 'piped',
    stdout: 'piped',
  }).spawn()
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  return {
    port: Number(new TextDecoder().decode(value)),
    cpuMs: () => cpuMsOf(child.pid),
    [Symbol.asyncDispose]: async () => {
      await child.stdin.close()
      await reader.cancel()
      await child.status
    },
  }
}

/** The CPU time of a process so far, in ms; 0 if it has ended or the system does not say. */
export function cpuMsOf(pid: number): number {
  try {
    return Number(Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

if (import.meta.main) {
  const [port, ms] = Deno.args.map(Number)
  void relay(port ?? 0, ms ?? 0)
  for await (const _ of Deno.stdin.readable);
  Deno.exit(0)
}
