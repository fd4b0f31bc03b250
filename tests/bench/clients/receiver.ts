import { print } from '../../../supabase/local/print.ts'
import { spawnGuarded } from '../../../supabase/local/process/watchdog.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { makeCertificates } from '../../_support/brokers/certificates.ts'
import { testFolder } from '../../_support/folder.ts'
import { ensurePrograms } from '../../_support/programs.ts'
import { configuration, slowServer } from './nginx.ts'

/** nginx, which echoes `webhook-id` at once, and after 20 ms at `/slow`. */
export interface EchoServer extends AsyncDisposable {
  /** The authority of its certificate (PEM). */
  ca: string
  certFile: string
  keyFile: string
  plain: string[]
  tls: string[]
  /** TLS with HTTP/2, one origin. */
  http2: string
}

const addresses = 100
const portsEach = 10

/** Starts it with 1,000 origins on the addresses 127.0.1.1 to 127.0.1.100. */
export async function startEchoServer(): Promise<EchoServer> {
  await ensurePrograms({ programs: ['nginx', 'openssl'], log: print })
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const hosts = Array.from({ length: addresses }, (_, n) => `127.0.1.${n + 1}`)
  const { ca, certFile, keyFile } = await makeCertificates(
    folder,
    hosts.map((host) => `IP:${host}`),
  )
  const ports = distinctPorts(2 * portsEach + 2)
  const [http2 = 0, slow = 0, ...others] = ports
  const [plain, tls] = [others.slice(0, portsEach), others.slice(portsEach)]
  await Deno.writeTextFile(`${folder}/slow.mjs`, slowServer(slow))
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    configuration({ folder, certFile, keyFile, plain, tls, http2, slow }),
  )
  const processes = [
    ['nginx', '-p', folder, '-c', `${folder}/nginx.conf`],
    ['node', `${folder}/slow.mjs`],
  ].map((command) =>
    spawnGuarded({
      command,
      cwd: folder,
      logFile: `${folder}/output.log`,
      stopSignal: 'TERM',
      forceSignal: 'KILL',
      graceSeconds: 5,
    })
  )
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one.stop()))
    await Deno.remove(folder, { recursive: true })
  }
  const areUp = await waitUntil(async () => await accepts(http2) && await accepts(slow), {
    timeoutMs: 20_000,
  })
  if (!areUp) {
    const log = await Deno.readTextFile(`${folder}/output.log`).catch(() => '')
    await stop()
    throw new Error(`nginx did not start: ${log}`)
  }
  const origins = (scheme: string, those: number[]): string[] =>
    those.flatMap((port) => hosts.map((host) => `${scheme}://${host}:${port}`))
  return {
    ca,
    certFile,
    keyFile,
    plain: origins('http', plain),
    tls: origins('https', tls),
    http2: `https://${hosts[0]}:${http2}`,
    [Symbol.asyncDispose]: stop,
  }
}

/** Free ports; held together, so that no two are the same. */
function distinctPorts(count: number): number[] {
  const listeners = Array.from(
    { length: count },
    () => Deno.listen({ hostname: '0.0.0.0', port: 0 }),
  )
  return listeners.map((listener) => {
    const { port } = listener.addr
    listener.close()
    return port
  })
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
