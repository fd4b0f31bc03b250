import { fileURLToPath } from 'node:url'
import { tryLock, waitForLock } from '../../supabase/local/process/lock.ts'

const cache = fileURLToPath(new URL('../../.outhook/prometheus/', import.meta.url))
const templates = '/usr/share/prometheus/alertmanager/'
const packages = ['prometheus', 'prometheus-alertmanager']

/** Where the programs are. */
export interface PrometheusBinaries {
  prometheus: string
  promtool: string
  alertmanager: string
  amtool: string
}

/**
 * Finds Prometheus and Alertmanager. What is not installed is fetched from Debian and unpacked
 * beside the project's other working files, so that no daemon is set up.
 */
export async function findPrometheus(): Promise<PrometheusBinaries> {
  const installed = await at('/usr/bin/')
  if (installed !== null) return installed
  await Deno.mkdir(cache, { recursive: true })
  const lock = await tryLock(`${cache}lock`) ?? await waitForLock(`${cache}lock`)
  try {
    const unpacked = await at(`${cache}usr/bin/`)
    if (unpacked !== null) return unpacked
    await command('apt-get', ['-q', 'download', ...packages])
    // Debian 13 has promtool in a package of its own, and Debian 12 has no such package.
    await command('apt-get', ['-q', 'download', 'promtool']).catch(() => {})
    for await (const { name } of Deno.readDir(cache)) {
      if (name.endsWith('.deb')) await command('dpkg', ['-x', name, '.'])
    }
    await placeTemplates()
    const fetched = await at(`${cache}usr/bin/`)
    if (fetched !== null) return fetched
  } finally {
    lock.release()
  }
  throw new Error(`the packages ${packages.join(' and ')} do not have the programs looked for`)
}

/** Debian's Alertmanager reads its templates from one place alone. */
async function placeTemplates(): Promise<void> {
  await Deno.mkdir(templates, { recursive: true })
  for (const name of ['default.tmpl', 'email.tmpl']) {
    const text = await Deno.readFile(`${cache}${templates.slice(1)}${name}`)
    await Deno.writeFile(`${templates}${name}`, text)
  }
}

async function at(folder: string): Promise<PrometheusBinaries | null> {
  const found = {
    prometheus: `${folder}prometheus`,
    promtool: `${folder}promtool`,
    alertmanager: `${folder}prometheus-alertmanager`,
    amtool: `${folder}amtool`,
  }
  try {
    const paths = [...Object.values(found), `${templates}default.tmpl`]
    await Promise.all(paths.map((path) => Deno.stat(path)))
    return found
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null
    throw error
  }
}

async function command(name: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(name, { args, cwd: cache }).output()
  if (success) return
  throw new Error(
    `${name} ${args.join(' ')} failed: ${new TextDecoder().decode(stderr).trim()}. Install ` +
      `${packages.join(' and ')} instead (Debian: apt-get install)`,
  )
}
