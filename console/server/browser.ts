import { pathToFileURL } from 'node:url'

/**
 * Opens a link in the browser of the desktop, if there is one; says whether it could. The browser gets
 * the name of a file that leads to the link, because other users of the machine can see the arguments
 * of a program, and the link has a token. The caller deletes the file.
 */
export async function openBrowser(link: string, file: string): Promise<boolean> {
  const { os } = Deno.build
  const hasDesktop = os !== 'linux' ||
    Deno.env.get('DISPLAY') !== undefined || Deno.env.get('WAYLAND_DISPLAY') !== undefined
  if (!hasDesktop) return false
  const command = os === 'darwin' ? 'open' : os === 'windows' ? 'explorer' : 'xdg-open'
  try {
    await writeRedirect(link, file)
    const { success } = await new Deno.Command(command, {
      args: [pathToFileURL(file).href],
      stdin: 'null',
      stdout: 'null',
      stderr: 'null',
    }).output()
    return success
  } catch {
    return false
  }
}

/** Writes a page that leads to the link and that only this user can read. */
export async function writeRedirect(link: string, file: string): Promise<void> {
  // The mode is that of a new file.
  await Deno.remove(file).catch(() => {})
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${link}">\n`
  await Deno.writeTextFile(file, page, { mode: 0o600, createNew: true })
}
