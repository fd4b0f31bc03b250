import { expect } from '@std/expect'
import { writeFunctionList } from '../../supabase/local/db_build.ts'
import {
  formatFunctions,
  functionListPath,
  readFunctions,
} from '../../supabase/local/schema/function_list.ts'
import { orderPath } from '../../supabase/local/schema/order.ts'
import { expectedFunctions, projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { readProjectFile } from './_tracked.ts'

const publish = `create function outbox.publish(p_type text) returns uuid
language sql as $$ select 1 $$;
comment on function outbox.publish(text) is
  'Publishes an event of a type, '
  'and returns the id''s text. More [text].';

create function outbox.no_text(
  p_one integer
) returns void
`

Deno.test('sql/FUNCTIONS.md is that of sql/', async () => {
  expect((await writeFunctionList(projectRoot, true)).message).toBe(
    'sql/FUNCTIONS.md is up to date',
  )
})

Deno.test('sql/FUNCTIONS.md has each function of the schema, with a sentence', async () => {
  const list = await readProjectFile(functionListPath) ?? ''
  const rows = [...list.matchAll(/^\| `(\w+)` \| \[\S+\]\(\S+\) \| (.*) \|$/gm)]
  expect(rows.filter(([, , purpose = '']) => purpose.trim() === '').map(([, name]) => name))
    .toEqual([])
  const listed = new Set(rows.map(([, name]) => name))
  const schema = await readProjectFile(expectedFunctions) ?? ''
  const names = new Set([...schema.matchAll(/^(\w+)\(.*\) \| /gm)].map(([, name]) => name))
  expect([...listed].toSorted()).toEqual([...names].toSorted())
})

Deno.test('readFunctions() reads the first sentence of each comment', () => {
  expect(readFunctions('sql/events/publish.sql', publish)).toEqual([
    {
      name: 'publish',
      path: 'sql/events/publish.sql',
      purpose: "Publishes an event of a type, and returns the id's text.",
    },
    { name: 'no_text', path: 'sql/events/publish.sql', purpose: '' },
  ])
})

Deno.test('readFunctions() reads a comment whose function is on the next line', () => {
  const text = 'create or replace function outbox.on_end() returns void\n' +
    "comment on function\n  outbox.on_end() is\n  'Ends a < b|c';\n"
  expect(readFunctions('sql/a/b.sql', text)).toEqual([
    { name: 'on_end', path: 'sql/a/b.sql', purpose: 'Ends a < b|c' },
  ])
})

Deno.test('formatFunctions() orders by name, escapes, and names a function that is replaced', () => {
  const rows = formatFunctions([
    { name: 'on_end', path: 'sql/a/points.sql', purpose: 'Ends a < b|c' },
    { name: 'on', path: 'sql/a/on.sql', purpose: 'Starts.' },
    { name: 'on_end', path: 'sql/b/end.sql', purpose: '' },
  ]).split('\n').filter((line) => line.startsWith('| `'))
  expect(rows).toEqual([
    '| `on` | [a/on.sql](a/on.sql) | Starts. |',
    '| `on_end` | [a/points.sql](a/points.sql) | Ends a \\< b\\|c |',
    '| `on_end` | [b/end.sql](b/end.sql) | Replaces the function of [a/points.sql](a/points.sql). |',
  ])
})

Deno.test('writeFunctionList() writes the list, and with check only compares', async () => {
  const root = testFolder()
  try {
    await Deno.mkdir(`${root}/sql/events`, { recursive: true })
    await Deno.writeTextFile(`${root}/${orderPath}`, '[core]\nevents/publish\n')
    await Deno.writeTextFile(`${root}/sql/events/publish.sql`, publish)
    const differs = await writeFunctionList(root, true)
    expect(differs).toEqual({ code: 1, message: expect.stringContaining('deno task db:build') })
    expect(await writeFunctionList(root, false)).toEqual({
      code: 0,
      message: `Wrote ${functionListPath}`,
    })
    expect((await writeFunctionList(root, true)).code).toBe(0)
    await Deno.writeTextFile(`${root}/sql/events/publish.sql`, 'select 1;\n')
    expect((await writeFunctionList(root, true)).code).toBe(1)
  } finally {
    await Deno.remove(root, { recursive: true })
  }
})
