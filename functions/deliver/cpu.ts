import process from 'node:process'

/**
 * The process's CPU time so far in ms, user and system, or null. Deno 2.1, which the edge runtime
 * is made of, has a cpuUsage that warns and says 0; it came to life together with resourceUsage.
 */
export function processCpuMs(): number | null {
  if (typeof process.resourceUsage !== 'function') return null
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
