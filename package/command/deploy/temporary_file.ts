import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/**
 * Passes `use` a file with this text, which only this user can read, and deletes it afterwards, also if
 * Ctrl-C ends the process.
 */
export async function withFile<Result>(
  name: string,
  text: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'outhook-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals): void => {
    remove()
    for (const one of signals) process.off(one, end)
    // Now it ends the process, as without this function.
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, end)
  try {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return await use(path)
  } finally {
    for (const signal of signals) process.off(signal, end)
    remove()
  }
}
