import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'

/** Git cannot say whether files are changed. */
export class GitError extends Error {
  override readonly name = 'GitError'
}

/**
 * Those of the files that have changes that are not committed, by their paths in the repository; null
 * if the folder is in no repository. Throws a GitError if Git cannot say it.
 */
export function changedFiles(folder: string, paths: readonly string[]): string[] | null {
  // Only these paths: the list of all changes can be longer than what a pipe may return.
  const args = ['status', '--porcelain', '-z', '--untracked-files=all', '--', ...paths]
  const { code, stdout, stderr } = git(folder, args)
  if (code === 0) {
    return stdout.split('\0').filter((line) => line !== '').map((line) => line.slice(3))
  }
  if (code === 128 && stderr.includes('not a git repository')) return null
  throw new GitError(stderr.trim())
}

/**
 * Whether Git ignores the file `functions/.env` of the folder `supabase`. Without a repository its own
 * `.gitignore`, with the text `ignore`, decides.
 */
export function ignoresEnv(supabase: string, ignore: string | null): boolean {
  // Without the index, because a file that is in it is never ignored.
  const path = join('functions', '.env')
  const { code } = git(supabase, ['check-ignore', '--quiet', '--no-index', '--', path])
  if (code === 0) return true
  return (ignore ?? '').split(/\r?\n/).some((line) => /^(?:\/?functions\/)?\.env$/.test(line))
}

/** Whether the folder is in a repository, also if Git can say nothing more about it. */
export function isInGit(folder: string): boolean {
  const { stderr } = git(folder, ['rev-parse', '--git-dir'])
  return !stderr.includes('not a git repository')
}

function git(cwd: string, args: string[]): { code: number; stdout: string; stderr: string } {
  try {
    const stdout = execFileSync('git', args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' },
    })
    return { code: 0, stdout, stderr: '' }
  } catch (error) {
    const { status, stderr, message } = error as Partial<Record<string, unknown>>
    return {
      code: typeof status === 'number' ? status : -1,
      stdout: '',
      stderr: typeof stderr === 'string' && stderr !== '' ? stderr : String(message),
    }
  }
}
