import { databaseFolder, sweepTestFolders } from './folder.ts'
import { copyPrepared } from './prepared.ts'

/** A small Supabase project in a folder of its own; disposing of it removes the folder. */
export interface TestProject extends AsyncDisposable {
  readonly projectDir: string
  readonly dataDir: string
  /** Writes a file of the project; `path` is relative to it. */
  write(path: string, text: string): Promise<void>
}

const CONFIG = `
project_id = "fixture"
[api]
port = 54321
schemas = ["public"]
[functions.echo]
verify_jwt = false
entrypoint = "../functions/echo/index.ts"
`

const MIGRATION = `
create table public.note (text text not null);
grant select, insert on public.note to service_role;
create function public.add_note(p_text text) returns bigint language sql set search_path = '' as $$
  insert into public.note (text) values (p_text);
  select count(*) from public.note;
$$;
`

const ECHO = `Deno.serve((request) =>
  Response.json({ path: new URL(request.url).pathname, env: Deno.env.toObject() })
)
`

/**
 * Makes a project with one table, one RPC function (add_note), one edge function (echo) and a seed. Its
 * cluster is a copy of a prepared one, or with `own` does not exist yet.
 */
export async function makeTestProject({ own = false } = {}): Promise<TestProject> {
  await sweepTestFolders()
  const root = databaseFolder()
  const projectDir = `${root}/project`
  const write = async (path: string, text: string): Promise<void> => {
    const file = `${projectDir}/${path}`
    await Deno.mkdir(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    await Deno.writeTextFile(file, text)
  }
  await write('supabase/config.toml', CONFIG)
  await write('supabase/migrations/20260101000000_note.sql', MIGRATION)
  await write('supabase/seed.sql', `insert into public.note values ('seeded');`)
  await write('functions/echo/index.ts', ECHO)
  const dataDir = `${root}/data`
  if (!own) await copyPrepared(dataDir, 'platform')
  return {
    projectDir,
    dataDir,
    write,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  }
}
