/**
 * Runs a child that cannot outlive its parent. A small shell between them has the read end of a pipe of
 * which only the parent has the write end. When that closes, by stop() or because the parent was killed, the
 * shell ends the child. It needs no polling and no pid file.
 */

/** The command, and how to end it. */
export interface GuardedCommand {
  command: string[]
  cwd: string
  env?: Record<string, string>
  /** Standard output and standard error are appended to this file. */
  logFile: string
  /** The signal that ends the child, without SIG; sent every second, because the child may not handle it yet. */
  stopSignal: string
  /** The signal that forces the end after `graceSeconds`. */
  forceSignal: string
  graceSeconds: number
}

export interface GuardedChild {
  /** Resolves with the child's exit code when it ends. */
  readonly ended: Promise<number>
  /** Ends the child, by force after the grace period, and resolves when it has ended. */
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

/** Starts `guarded.command` under a watchdog, in its own session, so that Ctrl-C does not reach it. */
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
