/** What processes have used, as the kernel counts it. */

/** Seconds of CPU, user and system, of one process so far; 0 for one that is gone. */
export function cpuOf(pid: number): number {
  return ticks(pid).own / 100
}

/** The same of a process with all of its children, ended ones included. */
export function cpuOfTree(pid: number): number {
  const { own, ended } = ticks(pid)
  let sum = own + ended
  for (const { name } of Deno.readDirSync('/proc')) {
    if (/^\d+$/.test(name) && parentOf(name) === pid) sum += ticks(Number(name)).own
  }
  return sum / 100
}

/** The most memory that a process has had, in MB. */
export function peakMb(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`)
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_000)
}

function fields(pid: number | string): string[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  } catch {
    return []
  }
}

function parentOf(pid: string): number {
  return Number(fields(pid)[1])
}

function ticks(pid: number): { own: number; ended: number } {
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields(pid).slice(11, 15).map(
    Number,
  )
  return { own: user + system, ended: childUser + childSystem }
}
