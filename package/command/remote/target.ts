import { password } from '@clack/prompts'
import { exitCodes, type Terminal } from '../terminal.ts'
import type { Target } from './data_api.ts'

/** How a person names a project. */
export interface TargetOptions {
  url?: string
  projectRef?: string
}

/** The variables that have a key, in the order in which they are read. */
const keyVariables = ['SUPABASE_SECRET_KEY', 'SUPABASE_SERVICE_ROLE_KEY']

/** Why there is no project to check, and the exit code. */
export interface NoTarget {
  code: number
  says: string
}

/**
 * The project that options and variables name. A key is read from a variable or asked for, because
 * other users of the machine can see the arguments of a command. `command` is for an example.
 */
export async function readTarget(
  options: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
  command: string,
): Promise<Target | NoTarget> {
  const url = urlOf(options, env, command)
  if (typeof url !== 'string') return url
  const key = keyVariables.map((name) => env[name]?.trim()).find((value) => value) ??
    (terminal.isInteractive ? await askKey() : null)
  if (key !== null) return { url, key }
  return {
    code: exitCodes.usage,
    says: 'There is no key: set SUPABASE_SECRET_KEY to a secret key of the project ' +
      '(Project Settings, API Keys)',
  }
}

/** The URL of the project that options and variables name. */
export function urlOf(
  { url, projectRef }: TargetOptions,
  env: Readonly<Record<string, string | undefined>>,
  command: string,
): string | NoTarget {
  const usage = (says: string): NoTarget => ({ code: exitCodes.usage, says })
  if (url !== undefined && projectRef !== undefined) {
    return usage('--url and --project-ref both name the project: give one of them')
  }
  if (projectRef !== undefined) {
    return /^[a-z0-9]{20}$/.test(projectRef)
      ? `https://${projectRef}.supabase.co`
      : usage('--project-ref takes the 20 letters and digits of https://<ref>.supabase.co')
  }
  const given = url ?? env['SUPABASE_URL']
  if (given === undefined || given === '') {
    return usage(
      'There is no project: add --project-ref <ref> or --url <url>, or set SUPABASE_URL. ' +
        `Example: outhook ${command} --project-ref abcdefghijklmnopqrst`,
    )
  }
  const parsed = URL.canParse(given) ? new URL(given) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    return usage('The URL of the project is not valid: it looks like https://<ref>.supabase.co')
  }
  return parsed.origin
}

/** Asks for the key; null if the person cancels. */
async function askKey(): Promise<string | null> {
  const key = await password({ message: 'A secret key of the project (sb_secret_…)' })
  return typeof key === 'string' && key.trim() !== '' ? key.trim() : null
}
