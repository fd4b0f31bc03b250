import process from 'node:process'

/**
 * The process's CPU time so far in ms, user and system, or null. In Deno 2.1, on which the edge
 * runtime is based, cpuUsage warns and returns 0; it works in the versions that have resourceUsage.
 */
export function processCpuMs(): number | null {
  if (typeof process.resourceUsage !== 'function') return null
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
