import { join } from 'node:path'
import { ensureTool } from './npm_tool.ts'
import { projectRoot } from './schema/project.ts'

/** The CLI versions that the tests use. */
export const cliVersions = ['2.117.0', '3.1.0'] as const

export type CliVersion = (typeof cliVersions)[number]

export interface CliResult {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs the Supabase CLI of an exact version in `cwd`, against the database at `dbUrl` if the command
 * takes one, without standard input, telemetry, update notices or user settings. It passes only PATH and
 * `env`, because the CLI's output depends on other variables.
 */
export async function runCli(options: {
  version: CliVersion
  args: string[]
  cwd: string
  dbUrl?: string
  env?: Record<string, string>
}): Promise<CliResult> {
  const programs = await ensureTool(projectRoot, 'supabase', options.version)
  const target = options.dbUrl === undefined ? [] : databaseTarget(options.version, options.dbUrl)
  const home = await Deno.makeTempDir({ prefix: 'outhook-cli-' })
  try {
    const ended = await new Deno.Command(join(programs, 'supabase'), {
      args: ['--agent', 'no', ...options.args, ...target],
      cwd: options.cwd,
      clearEnv: true,
      env: {
        PATH: Deno.env.get('PATH') ?? '',
        HOME: home,
        NO_COLOR: '1',
        DO_NOT_TRACK: '1',
        SUPABASE_TELEMETRY_DISABLED: '1',
        SUPABASE_NO_UPDATE_NOTIFIER: '1',
        ...options.env,
      },
      stdin: 'null',
      stdout: 'piped',
      stderr: 'piped',
    }).output()
    const decoder = new TextDecoder()
    return {
      code: ended.code,
      stdout: decoder.decode(ended.stdout),
      stderr: decoder.decode(ended.stderr),
    }
  } finally {
    await Deno.remove(home, { recursive: true })
  }
}

/** Version 3 has no --db-url. Both use TLS first unless the URL disables it. */
function databaseTarget(version: CliVersion, dbUrl: string): string[] {
  const url = `${dbUrl}?sslmode=disable`
  return version.startsWith('2.') ? ['--db-url', url] : [`--remote=${url}`]
}
