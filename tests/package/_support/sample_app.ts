import { join } from 'node:path'
import { ensureTool } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { cliVersions } from '../../../supabase/local/supabase_cli.ts'
import { docsBlock } from '../../project/_docs.ts'
import { programPath } from './program.ts'
import type { Registry } from './registry.ts'

/** What the app of somebody else has before Outhook comes: tables with rights, and functions of its own. */
const files: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
  // Its own file, so that Deno does not use the one of the project.
  'deno.json': '{ "nodeModulesDir": "manual" }\n',
  '.gitignore': 'node_modules\n',
  'supabase/migrations/20260110090000_orders.sql': `create table public.orders (
  id bigint primary key, owner uuid default auth.uid(), total numeric not null, paid boolean not null default false);
alter table public.orders enable row level security;
create policy own_orders on public.orders for all to authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
`,
  'supabase/functions/api/index.ts': `Deno.serve(() => Response.json({ api: 'of the shop' }))\n`,
  'supabase/functions/api/deno.json': '{ "imports": {} }\n',
  'supabase/functions/deliver/index.ts': `Deno.serve(() => new Response('a parcel'))\n`,
  'supabase/functions/deliver/deno.json': '{ "imports": {} }\n',
}

const ownSections =
  '\n[functions.api]\nverify_jwt = false\n\n[functions.deliver]\nverify_jwt = false\n'

/** Creates the app in `path`: `supabase init`, its own files, and a first commit. */
export async function createSampleApp(path: string, registry: Registry): Promise<void> {
  await Deno.mkdir(path, { recursive: true })
  const [version] = cliVersions
  const supabase = join(await ensureTool(projectRoot, 'supabase', version), 'supabase')
  const steps: string[][] = [
    [supabase, 'init'],
    ['git', 'init', '--quiet'],
    ['git', 'add', '--all'],
    [
      'git',
      ...['-c', 'user.name=shop', '-c', 'user.email=shop@example.com'],
      ...['commit', '--quiet', '--message', 'the shop'],
    ],
  ]
  for (const [at, command] of steps.entries()) {
    const { code, stderr } = await registry.run(command, path, { DO_NOT_TRACK: '1' })
    if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${stderr}`)
    if (at > 0) continue
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(join(path, name, '..'), { recursive: true })
      await Deno.writeTextFile(join(path, name), text)
    }
    await Deno.writeTextFile(join(path, 'supabase/config.toml'), ownSections, { append: true })
    await Deno.mkdir(join(path, 'app/webhooks'), { recursive: true })
    await Deno.writeTextFile(join(path, 'app/webhooks/route.js'), docsBlock('package-next.mjs'))
    await Deno.copyFile(programPath('next_server.mjs'), join(path, 'serve-route.mjs'))
  }
}
