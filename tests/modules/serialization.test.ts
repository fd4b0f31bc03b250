/** A pgTAP file that Postgres refuses to serialize is repeated, and any other error is not. */

import { expect } from '@std/expect'
import { relative } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { runFile } from '../_run/pg_tap.ts'
import { testFolder } from '../_support/folder.ts'
import { withMigrations } from '../_support/postgres.ts'

/** A pgTAP file whose first `refusals` runs end with the error; a sequence counts through rollbacks. */
function failingFile(refusals: number, message: string): string {
  return `begin;
select plan(1);
do $$ begin
  if nextval('public.tries') <= ${refusals} then raise exception '${message}'; end if;
end $$;
select ok(true, 'reached');
select * from finish();
rollback;
`
}

const refusal = 'could not serialize access due to read/write dependencies among transactions'

Deno.test('a file of pgTAP is repeated after a serialization failure, up to five times', async () => {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true })
  const file = relative(projectRoot, `${folder}/file.test.sql`)
  await withMigrations(async (pg) => {
    const tried = async (refusals: number, message: string): Promise<unknown> => {
      await pg.psql(
        'create sequence if not exists public.tries; alter sequence public.tries restart',
      )
      await Deno.writeTextFile(`${folder}/file.test.sql`, failingFile(refusals, message))
      const { counts } = await runFile(pg, file)
      return [counts.passed, counts.failed]
    }
    expect(await tried(2, refusal)).toEqual([1, 0])
    expect(await tried(5, refusal)).toEqual([1, 0])
    expect(await tried(6, refusal)).toEqual([0, 1])
    expect(await tried(1, 'another error')).toEqual([0, 1])
  })
  await Deno.remove(folder, { recursive: true })
})
