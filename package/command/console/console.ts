import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { StaticFile } from '../../../console/build/build.ts'
import { openBrowser } from '../../../console/server/browser.ts'
import { readProject } from '../init/project.ts'
import { readTarget, type TargetOptions } from '../remote/target.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { type RunningConsole, serveConsole } from './serve.ts'

/** The options of `outhook console`. */
export interface ConsoleOptions extends TargetOptions {
  project: string
  /** The name of the function `api`; by default the one that `init` gave it. */
  function?: string
  port: number
  open: boolean
}

/** Serves the console until Ctrl-C, and returns the exit code. The secret key stays in this process. */
export async function showConsole(
  files: ReadonlyMap<string, StaticFile>,
  options: ConsoleOptions,
  terminal: Terminal,
): Promise<number> {
  const target = await readTarget(options, process.env, terminal, 'console')
  if ('says' in target) {
    terminal.printError(target.says)
    return target.code
  }
  const own = readProject(join(options.project, 'supabase'))?.own ?? []
  const name = options.function ?? own.find((one) => one.name === 'api')?.folder ?? 'api'
  const upstream = { url: `${target.url}/functions/v1/${name}`, secretKey: target.key }
  let running: RunningConsole
  try {
    running = await serveConsole({ files, upstream, port: options.port })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    terminal.printError(`Port ${options.port} cannot be used (${why}): add --port 0`)
    return exitCodes.failed
  }
  const folder = mkdtempSync(join(tmpdir(), 'outhook-'))
  try {
    const link = running.newLink()
    terminal.print(
      `The console shows ${target.url}. Open this link, which works once:\n\n  ${link}\n`,
    )
    if (options.open && await openBrowser(link, join(folder, 'console.html'))) {
      terminal.print('The browser was opened.')
    }
    await untilEnd(terminal, running)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await running.stop()
  }
  return exitCodes.done
}

/** Waits for Ctrl-C. Prints a new link for each line of the terminal. */
async function untilEnd(
  { isInteractive, print }: Terminal,
  running: RunningConsole,
): Promise<void> {
  const offer = (): void => print(`  ${running.newLink()}\n`)
  if (isInteractive) process.stdin.on('data', offer)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
  })
  process.stdin.off('data', offer)
  process.stdin.pause()
}
