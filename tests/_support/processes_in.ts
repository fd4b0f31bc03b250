import { waitUntil } from '../../supabase/local/process/wait.ts'

/** The command lines of the processes that work in `folder` or have it as an argument. Linux only. */
export async function processesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of Deno.readDir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const command = (await Deno.readTextFile(`/proc/${name}/cmdline`)).replaceAll('\0', ' ')
      const place = await Deno.readLink(`/proc/${name}/cwd`)
      if (command.includes(folder) || place.startsWith(folder)) found.push(`${name}: ${command}`)
    } catch {
      // The process ended after it was listed.
    }
  }
  return found
}

/** Waits until none is left; returns those that are left after the time limit. */
export async function leftIn(folder: string, timeoutMs: number): Promise<string[]> {
  let left: string[] = []
  await waitUntil(async () => {
    left = await processesIn(folder)
    return left.length === 0
  }, { timeoutMs, everyMs: 50 })
  return left
}
