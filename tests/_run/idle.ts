import { cpus } from 'node:os'

/** The share of a period above which the machine counts as idle: half of a core on two cores. */
const IDLE_SHARE = 0.25

/** CPU time since the start of the machine, added over all cores. */
interface CpuTime {
  idle: number
  all: number
}

/** Watches for two seconds whether the cores were idle for a quarter of them. */
export async function isMachineIdle(): Promise<boolean> {
  const before = cpuTime()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  return wasIdle(before, cpuTime())
}

/** Whether the cores were idle for a quarter of the time between; no if the system does not say. */
export function wasIdle(before: CpuTime, after: CpuTime): boolean {
  const all = after.all - before.all
  return all > 0 && (after.idle - before.idle) / all > IDLE_SHARE
}

/**
 * Starts to count the CPU time of all programs; the result is their share of the cores, or null if the system does
 * not report it.
 */
export function countBusy(): () => number | null {
  const before = cpuTime()
  return () => {
    const after = cpuTime()
    const all = after.all - before.all
    return all > 0 ? 1 - (after.idle - before.idle) / all : null
  }
}

function cpuTime(): CpuTime {
  const sum = { idle: 0, all: 0 }
  for (const { times } of cpus()) {
    sum.idle += times.idle
    sum.all += Object.values(times).reduce((all, one) => all + one, 0)
  }
  return sum
}
