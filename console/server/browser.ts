import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

/**
 * Opens a link in the browser of the desktop, if there is one; says whether it could. The browser gets
 * the name of a file that leads to the link, because other users of the machine can see the arguments
 * of a program, and the link has a token. The caller deletes the file.
 */
export async function openBrowser(link: string, file: string): Promise<boolean> {
  const { platform, env } = process
  const hasDesktop = platform !== 'linux' ||
    env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined
  if (!hasDesktop) return false
  const command = platform === 'darwin' ? 'open' : platform === 'win32' ? 'explorer' : 'xdg-open'
  try {
    await writeRedirect(link, file)
    return await succeeds(command, pathToFileURL(file).href)
  } catch {
    return false
  }
}

function succeeds(command: string, argument: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [argument], { stdio: 'ignore' })
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0))
  })
}

/** Writes a page that leads to the link and that only this user can read. */
export async function writeRedirect(link: string, file: string): Promise<void> {
  // The mode is that of a new file.
  await rm(file, { force: true })
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${link}">\n`
  await writeFile(file, page, { mode: 0o600, flag: 'wx' })
}
