/** Starts and ends the process of the noisy organisation, noise.ts. */

import type { NoiseOptions } from './options.ts'

export type Noise = {
  origin: string
  /** The id of its WhatsApp number, and the URL of the WhatsApp that takes its messages. */
  whatsapp: { number: string; url: string }
  pid: number
  start(): Promise<void>
  /** Ends it; returns how often each route returned which status. Calling it twice is no error. */
  stop(): Promise<Record<string, number>>
}

/** Starts the process, which waits for `start()`. */
export async function startNoise(options: NoiseOptions): Promise<Noise> {
  const script = new URL('./noise.ts', import.meta.url).pathname
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--cached-only', script, JSON.stringify(options)],
    stdin: 'piped',
    stdout: 'piped',
  }).spawn()
  const input = child.stdin.getWriter()
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const [port = '', url = ''] = (await lines.read()).value?.trim().split(' ') ?? []
  let stopped: Promise<Record<string, number>> | null = null

  async function end(): Promise<Record<string, number>> {
    await input.close()
    let text = ''
    for (let read = await lines.read(); !read.done; read = await lines.read()) text += read.value
    await child.status
    return JSON.parse(text)
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    whatsapp: { number: port, url },
    pid: child.pid,
    start: () => input.write(new TextEncoder().encode('start\n')),
    stop: () => stopped ??= end(),
  }
}
