/** A process that a test step started and did not stop. */
export interface Leftover {
  pid: number
  command: string
}

/** The environment variable by which everything that this run starts can be told. */
export const runMark = 'OUTHOOK_TEST_RUN'

/** The mark of one part of a run; `findLeftovers()` of the run's own mark finds it too. */
export function partMark(mark: string, part: number | string): string {
  return `${mark}.${part}`
}

/**
 * Processes that carry this run's mark in their environment. Linux only: elsewhere nothing is
 * found, and the tests' own clean-up is all there is.
 */
export async function findLeftovers(mark: string): Promise<Leftover[]> {
  if (Deno.build.os !== 'linux') return []
  const wanted = [`${runMark}=${mark}\0`, `${runMark}=${mark}.`]
  const found: Leftover[] = []
  for await (const entry of Deno.readDir('/proc')) {
    const pid = Number(entry.name)
    if (!Number.isInteger(pid) || pid === Deno.pid) continue
    try {
      const environment = await Deno.readTextFile(`/proc/${pid}/environ`) + '\0'
      if (!wanted.some((text) => environment.includes(text))) continue
      const command = await Deno.readTextFile(`/proc/${pid}/cmdline`)
      // A zombie has no command line: it has ended and only waits to be noticed.
      if (command !== '') found.push({ pid, command: command.replaceAll('\0', ' ').trim() })
    } catch {
      // The process ended meanwhile, or belongs to someone else.
    }
  }
  return found
}

/**
 * Waits a moment for what is about to end by itself (a watchdog sleeps a second at a time), then
 * stops the rest: by request, and after `grace` by force. Returns what had to be stopped.
 */
export async function stopLeftovers(
  mark: string,
  patience = 2_000,
  grace = 2_000,
): Promise<Leftover[]> {
  const found = await untilGone(mark, patience)
  // SIGTERM ends most programs, SIGINT makes Postgres end at once, clients or not.
  signalAll(found, 'SIGTERM')
  signalAll(found, 'SIGINT')
  signalAll(await untilGone(mark, grace), 'SIGKILL')
  return found
}

async function untilGone(mark: string, milliseconds: number): Promise<Leftover[]> {
  const deadline = performance.now() + milliseconds
  let left = await findLeftovers(mark)
  while (left.length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    left = await findLeftovers(mark)
  }
  return left
}

function signalAll(processes: Leftover[], signal: Deno.Signal): void {
  for (const { pid } of processes) {
    try {
      Deno.kill(pid, signal)
    } catch {
      // It ended meanwhile.
    }
  }
}
