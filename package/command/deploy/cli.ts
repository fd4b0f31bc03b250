import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'

/** How a run of the Supabase CLI ended. */
export interface CliEnd {
  code: number
  /** Empty if the output was shown. */
  stdout: string
}

/** The Supabase CLI of a project. */
export interface Cli {
  /** The major version, 2 or 3. */
  major: number
  /** Runs it in the project: its messages go to standard error. `captured`: returns its output. */
  run(args: readonly string[], options?: { captured?: boolean }): Promise<CliEnd>
}

/** Why the CLI cannot be used. */
export class CliError extends Error {}

/**
 * The Supabase CLI: `program` if it is given, otherwise the one that the project has installed, otherwise
 * the one of PATH. Throws a CliError if there is none, or if its version is not supported.
 */
export async function findCli(project: string, program: string | undefined): Promise<Cli> {
  const name = process.platform === 'win32' ? 'supabase.cmd' : 'supabase'
  const installed = resolve(project, 'node_modules', '.bin', name)
  const path = program ?? (existsSync(installed) ? installed : name)
  const run: Cli['run'] = (args, { captured = false } = {}) => runCli(path, project, args, captured)
  let version: CliEnd
  try {
    version = await run(['--version'], { captured: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(
      `The Supabase CLI cannot be started (${why}): run npm install --save-dev supabase@2.117.0, ` +
        'or name the program with --supabase',
    )
  }
  const [, major] = /^v?(\d+)\./.exec(version.stdout.trim()) ?? []
  if (major === '2' || major === '3') return { major: Number(major), run }
  const [line = ''] = version.stdout.trim().split('\n')
  throw new CliError(`${path} is not the Supabase CLI in version 2.117 or 3: it prints "${line}"`)
}

function runCli(
  path: string,
  project: string,
  args: readonly string[],
  captured: boolean,
): Promise<CliEnd> {
  return new Promise((resolveEnd, reject) => {
    const child = spawn(path, args, {
      cwd: project,
      // A question could wait for ever: the steps have been confirmed.
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: process.platform === 'win32',
    })
    const parts: Uint8Array[] = []
    child.stdout.on('data', (part: Uint8Array) => {
      // Standard output is for the result of this command.
      if (captured) parts.push(part)
      else process.stderr.write(part)
    })
    child.on('error', reject)
    child.on('close', (code) => {
      const decoder = new TextDecoder()
      const stdout = parts.map((part) => decoder.decode(part, { stream: true })).join('')
      resolveEnd({ code: code ?? 1, stdout })
    })
  })
}
