/** `deno task catalogue`: writes the event types as documentation, to publish beside one's own. */

import { join, resolve } from 'node:path'
import { readUpstream } from '../../console/server/upstream.ts'
import { createClient } from '../../package/client/client.ts'
import { ApiError, OuthookError } from '../../package/client/errors.ts'
import { runCommand, type Values } from '../../supabase/local/command.ts'
import { SetupError } from '../../supabase/local/errors.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type CatalogueChange, cataloguePage, type EventType } from './page.ts'

const flags = {
  org: { type: 'string', default: 'default' },
  title: { type: 'string', default: 'Event types' },
  out: { type: 'string', default: 'dist/catalogue' },
  'data-dir': { type: 'string' },
} as const

const help = `Write the catalogue of event types as static HTML: description, example and schema of
each, and what has changed.

  npx -y deno@2.9.6 task catalogue [--org <id>] [--title <text>] [--out <folder>] [--data-dir <folder>]

  --org <id>           the organisation (default default)
  --title <text>       the title of the page (default Event types)
  --out <folder>       where the files are written (default dist/catalogue)
  --data-dir <folder>  the data folder of the local stack (default .outhook/stack)
  --help               show this

It reads the local stack. For a hosted project, set OUTHOOK_CONSOLE_URL and OUTHOOK_CONSOLE_SECRET_KEY.`

async function run(values: Values<typeof flags>): Promise<number> {
  const { org, out, title } = values
  const variable = (name: string): string | undefined => Deno.env.get(name) || undefined
  const { url, secretKey } = await readUpstream({
    url: variable('OUTHOOK_CONSOLE_URL'),
    secretKey: variable('OUTHOOK_CONSOLE_SECRET_KEY'),
    functionName: variable('OUTHOOK_CONSOLE_FUNCTION'),
    root: projectRoot,
    dataDir: values['data-dir'] ?? join(projectRoot, '.outhook/stack'),
  })
  const { types, changes } = await readCatalogue(url, secretKey, org)
  const folder = resolve(projectRoot, out)
  await writeCatalogue(folder, cataloguePage(types, title, changes))
  print(`wrote ${types.length} event types into ${join(out, 'index.html')}`)
  return 0
}

/** The changelog has at most so many changes, the newest. */
const mostChanges = 200

/** The event types of an organisation, and their newest changes. */
export async function readCatalogue(
  url: string,
  key: string,
  orgId: string,
): Promise<{ types: EventType[]; changes: CatalogueChange[] }> {
  const [base = '', functionName = ''] = url.split('/functions/v1/')
  const client = createClient({ url: base, functionName, key, orgId })
  try {
    const types = await Array.fromAsync(client.each.listEventTypes({ query: { limit: 100 } }))
    const known = new Set(types.map(({ type }) => type))
    const changes: CatalogueChange[] = []
    try {
      for await (const change of client.each.listEventTypeChanges({ query: { limit: 100 } })) {
        if (changes.length === mostChanges) break
        // What is no longer in the catalogue is not published again.
        if (known.has(change.type)) changes.push(change)
      }
    } catch (error) {
      // An API of the version before has no history.
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
    return { types, changes }
  } catch (error) {
    if (error instanceof OuthookError) throw new SetupError(error.message)
    throw error
  }
}

/** Writes the document and its style sheet into a folder. */
export async function writeCatalogue(folder: string, page: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true })
  await Deno.writeTextFile(join(folder, 'index.html'), page)
  const style = join(projectRoot, 'portal/catalogue/catalogue.css')
  await Deno.copyFile(style, join(folder, 'catalogue.css'))
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
