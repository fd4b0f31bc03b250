import process from 'node:process'

/** How often the parent is looked for. */
const intervalMs = 1_000

/**
 * Calls `end` once if the process that started this one has ended. npm and npx end at a signal without passing
 * it on, so their worker would deliver for ever. Other parents, such as a shell, may end before it.
 */
export function endWithNpm(
  env: Readonly<Record<string, string | undefined>>,
  end: () => void,
): void {
  if (env.npm_command === undefined) return
  const { ppid } = process
  const timer = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(timer)
    end()
  }, intervalMs)
  timer.unref()
}
