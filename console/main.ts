/** `deno task console`: serves the console on the loopback until Ctrl-C. */

import { join } from 'node:path'
import { runCommand, type Values } from '../supabase/local/command.ts'
import { SetupError } from '../supabase/local/errors.ts'
import { aborted, interruption } from '../supabase/local/interrupted.ts'
import { print } from '../supabase/local/print.ts'
import { projectRoot } from '../supabase/local/schema/project.ts'
import { buildPage } from './build/build.ts'
import { openBrowser } from './server/browser.ts'
import { type RunningConsole, serveConsole } from './server/serve.ts'
import { readUpstream } from './server/upstream.ts'

const flags = {
  port: { type: 'string', default: '54380' },
  'no-open': { type: 'boolean', default: false },
  'data-dir': { type: 'string' },
} as const

const help = `Show events, endpoints and dead letters in the browser, and act on them.

  npx -y deno@2.9.6 task console [--port <number>] [--no-open] [--data-dir <folder>]

  --port <number>      listen on this port of 127.0.0.1; 0 takes any free one (default 54380)
  --no-open            do not open the browser
  --data-dir <folder>  the data folder of the local stack (default .outhook/stack)
  --help               show this

It shows the local stack. For a hosted project, set OUTHOOK_CONSOLE_URL and OUTHOOK_CONSOLE_SECRET_KEY.
The secret key stays in this process. The link works once; press Enter for a new one. Ctrl-C stops it.`

async function run(values: Values<typeof flags>): Promise<number> {
  const port = readPort(values.port)
  const upstream = await readUpstream({
    url: variable('OUTHOOK_CONSOLE_URL'),
    secretKey: variable('OUTHOOK_CONSOLE_SECRET_KEY'),
    functionName: variable('OUTHOOK_CONSOLE_FUNCTION'),
    root: projectRoot,
    dataDir: values['data-dir'] ?? join(projectRoot, '.outhook/stack'),
  })
  const files = await buildPage(projectRoot, print)
  const running = listen(() => serveConsole({ files, upstream, port }), port)
  const link = running.newLink()
  const file = join(projectRoot, '.outhook', `console-${new URL(running.url).port}.html`)
  print(`\nThe console shows ${new URL(upstream.url).origin}. Open this link, which works once:\n`)
  print(`  ${link}\n`)
  if (!values['no-open'] && await openBrowser(link, file)) print('The browser was opened.')
  const signal = interruption()
  void offerLinks(running)
  await aborted(signal)
  await running.stop()
  await Deno.remove(file).catch(() => {})
  return 0
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new SetupError(`--port is ${JSON.stringify(text)}: expected a number from 0 to 65535`)
}

/** The value of an environment variable; undefined if it is not set, or empty. */
function variable(name: string): string | undefined {
  const value = Deno.env.get(name)
  return value === '' ? undefined : value
}

function listen(start: () => RunningConsole, port: number): RunningConsole {
  try {
    return start()
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error
    throw new SetupError(
      `port ${port} is taken: stop the program that uses it, or add --port 0`,
    )
  }
}

/** Prints a new link for each line of the terminal. */
async function offerLinks(running: RunningConsole): Promise<void> {
  if (!Deno.stdin.isTerminal()) return
  for await (const _line of Deno.stdin.readable) print(`  ${running.newLink()}\n`)
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
