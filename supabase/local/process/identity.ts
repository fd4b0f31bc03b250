/** Identifies processes by more than their pid, because a pid may be reused. */

/** The command line of `pid`, separated by spaces; null if there is no such process. */
export async function commandLine(pid: number): Promise<string | null> {
  if (Deno.build.os === 'linux') {
    try {
      const words = (await Deno.readTextFile(`/proc/${pid}/cmdline`)).split('\0')
      return words.join(' ').trim()
    } catch {
      return null
    }
  }
  const ps = new Deno.Command('ps', { args: ['-o', 'args=', '-p', String(pid)] })
  const { success, stdout } = await ps.output()
  return success ? new TextDecoder().decode(stdout).trim() : null
}

/** Whether `pid` is alive and not a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  if (Deno.build.os === 'linux') {
    try {
      const stat = await Deno.readTextFile(`/proc/${pid}/stat`)
      // The state follows the command name, which is in parentheses and may contain any character.
      return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
    } catch {
      return false
    }
  }
  return await commandLine(pid) !== null
}

/** Sends `signal` to `pid`; an ended process is not an error. */
export function signalQuietly(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !isNoSuchProcess(error)) throw error
  }
}

function isNoSuchProcess(error: unknown): boolean {
  return error instanceof Error && error.message.includes('ESRCH')
}
