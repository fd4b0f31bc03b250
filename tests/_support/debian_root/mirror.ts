/** Reads the Debian mirrors from the settings of the machine's own apt. */

/** The sources of one release of Debian. */
export interface Mirror {
  /** The archive itself, with a slash at its end. */
  archive: string
  /** The archive of security updates; null when the machine has none. */
  security: string | null
  /** apt's settings of the network (a proxy, its certificates), as a configuration file. */
  settings: string
}

/**
 * Reads the mirrors out of the machine's apt sources, after `apt-get update` where apt has no lists
 * yet. Throws when there is no Debian archive among them.
 */
export async function machineMirror(): Promise<Mirror> {
  let targets = await listTargets()
  if (archiveOf(targets, 'Debian') === null) {
    await output('apt-get', ['-q', 'update'])
    targets = await listTargets()
  }
  const archive = archiveOf(targets, 'Debian')
  if (archive === null) {
    throw new Error("A Debian root needs a Debian archive among this machine's apt sources")
  }
  const settings = (await output('apt-config', ['dump', '--format', '%F "%v";%n'])).split('\n')
    .filter((line) => /^Acquire::(http|https|Check-|Retries|ForceIPv)/i.test(line))
  return {
    archive,
    security: archiveOf(targets, 'Debian-Security'),
    settings: settings.map((line) => `${line}\n`).join(''),
  }
}

async function listTargets(): Promise<string[][]> {
  const format = '$(LABEL)|$(REPO_URI)'
  const text = await output('apt-get', ['indextargets', '--format', format])
  return text.split('\n').map((line) => line.split('|'))
}

function archiveOf(targets: string[][], label: string): string | null {
  return targets.find(([name]) => name === label)?.[1] ?? null
}

/** The output of a program; if it fails, throws an error with the output. */
export async function output(
  program: string,
  args: string[],
  { cwd }: { cwd?: string } = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    stdin: 'null',
    ...cwd === undefined ? {} : { cwd },
  }).output()
  const text = new TextDecoder().decode(stdout)
  if (success) return text
  const said = (text + new TextDecoder().decode(stderr)).trim().slice(-2000)
  throw new Error(`${program} ${args.join(' ')} failed:\n${said}`)
}
