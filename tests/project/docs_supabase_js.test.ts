/** The page's function that publishes with its insert, called from supabase-js. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startOuthook } from '../_support/outhook.ts'
import { docsBlock } from './_docs.ts'

Deno.test('the function of the page inserts the order and publishes its event in one transaction', async () => {
  const outhook = await startOuthook({ functions: [] })
  const folder = await Deno.makeTempDir()
  try {
    const { sql, stack } = outhook
    await sql`create table public.orders (
      id bigint primary key, total numeric not null, paid boolean not null)`
    await sql.unsafe(docsBlock('publish-from-function')).simple()
    await sql`notify pgrst, 'reload schema'`
    const program = join(folder, 'place.mjs')
    await Deno.writeTextFile(program, docsBlock('publish-from-supabase-js'))
    const place = async (): Promise<string> => {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...[
            'run',
            '-A',
            '--no-lock',
            '--cached-only',
            '--config',
            join(projectRoot, 'deno.json'),
          ],
          program,
        ],
        env: { API_URL: stack.apiUrl, SECRET_KEY: stack.keys.secretKey, NO_COLOR: '1' },
      }).output()
      return new TextDecoder().decode(stdout).trim()
    }
    const [, id] = /^published ([0-9a-f-]{36})$/.exec(await place()) ?? []
    const rows = await sql`select id, type, body::json ->> 'total' as total from outbox.event`
    expect(rows).toEqual([{ id, type: 'order.paid', total: '49.9' }])
    // The insert fails, so there is no second event.
    expect(await place()).toMatch(/duplicate key/)
    expect((await sql`select from outbox.event`).length).toBe(1)
    expect((await sql`select from public.orders`).length).toBe(1)
  } finally {
    await outhook.stop()
    await Deno.remove(folder, { recursive: true })
  }
})
