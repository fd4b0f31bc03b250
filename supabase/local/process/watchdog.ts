/**
 * A child that cannot outlive its parent. Between the two sits a small shell that holds the read
 * end of a pipe; the write end is ours alone. When it closes, because stop() closed it or because
 * the kernel did after a kill -9, the shell ends the child. No polling, no pid file to go stale.
 */

/** What to run and how to end it. */
export interface GuardedCommand {
  command: string[]
  cwd: string
  env?: Record<string, string>
  /** File that standard output and standard error are appended to. */
  logFile: string
  /**
   * Signal that asks the child to end, without the SIG prefix. Sent every second: one that comes
   * before the child has its handler is lost.
   */
  stopSignal: string
  /** Signal that forces it, sent after `graceSeconds`. */
  forceSignal: string
  graceSeconds: number
}

/** A running guarded child. */
export interface GuardedChild {
  /** Resolves with the child's exit code once it has ended. */
  readonly ended: Promise<number>
  /** Asks the child to end, forces it after the grace period, and resolves when it has ended. */
  stop(): Promise<void>
}

const WATCHDOG = `
stop=$1 force=$2 grace=$3 log=$4
shift 4
exec 3<&0 >>"$log" 2>&1
"$@" </dev/null 3<&- &
child=$!
(
  while read -r line <&3; do :; done
  waited=0
  while [ "$waited" -lt "$grace" ] && kill -s "$stop" "$child"; do
    sleep 1
    waited=$((waited + 1))
  done
  kill -s "$force" "$child"
) 2>/dev/null &
guard=$!
exec 3<&-
wait "$child"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`

/**
 * Starts `guarded.command` under a watchdog, in a session of its own so that Ctrl-C passes it by.
 */
export function spawnGuarded(guarded: GuardedCommand): GuardedChild {
  const { command, stopSignal, forceSignal, graceSeconds, logFile } = guarded
  const child = new Deno.Command('sh', {
    args: [
      '-c',
      WATCHDOG,
      'watchdog',
      stopSignal,
      forceSignal,
      String(graceSeconds),
      logFile,
      ...command,
    ],
    cwd: guarded.cwd,
    env: guarded.env ?? {},
    stdin: 'piped',
    stdout: 'null',
    stderr: 'null',
    detached: true,
  }).spawn()
  const ended = child.status.then((status) => status.code)
  return {
    ended,
    stop: async () => {
      await child.stdin.close().catch(() => {})
      await ended
    },
  }
}
