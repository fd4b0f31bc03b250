/** The section "Add a kind of endpoint", checked against the example `ntfy` and, for a kind of this project, `slack`. */

import { expect } from '@std/expect'
import { projectFiles, readProjectFile } from './_tracked.ts'

const section = (await readProjectFile('CONTRIBUTING.md') ?? '')
  .split('## Add a kind of endpoint\n')[1] ?? ''
const [forOthers = '', forUs = ''] = section.split('**A kind of this project**')
const steps = forOthers.split(/^\d+\. /m).slice(1)
const places = forUs.split(/^- /m).slice(1)

const example = 'tests/modules/example_kind'

/** Files of this project that the steps name and that need no line for a new kind. */
const general = [
  'functions/_shared/senders/sender.ts',
  'functions/deliver/serve.ts',
  'supabase/config.toml',
]

Deno.test('the section has ten steps and six places, each with a file', () => {
  expect(steps).toHaveLength(10)
  expect(places).toHaveLength(6)
  expect([...steps, ...places].filter((part) => pathsOf(part).length === 0)).toEqual([])
})

for (const [index, step] of steps.entries()) {
  for (const path of pathsOf(step)) {
    Deno.test(`step ${index + 1} is true of ntfy: ${path}`, async () => {
      const text = await readProjectFile(path.includes('/') ? path : `${example}/${path}`)
      expect([path, text === null]).toEqual([path, false])
      if (!general.includes(path)) expect(text).toMatch(/ntfy/i)
    })
  }
}

for (const [index, place] of places.entries()) {
  for (const path of pathsOf(place)) {
    Deno.test(`place ${index + 1} is true of slack: ${path}`, async () => {
      const text = await readProjectFile(path)
      expect([path, text === null]).toEqual([path, false])
      expect(text).toMatch(/slack/i)
    })
  }
}

Deno.test('each statement that a step names is in ntfy.sql', async () => {
  const sql = await readProjectFile(`${example}/ntfy.sql`) ?? ''
  const inOrder = [
    'insert into outbox.endpoint_kind',
    'insert into outbox.setting',
    'insert into outbox.failure_rule',
    'insert into outbox.error_hint',
    'perform outbox.put_credentials',
    'create function outbox.create_ntfy_endpoint',
    'create function outbox.create_ntfy_of_wire',
    'create function outbox.change_ntfy_of_wire',
    'insert into outbox.tick_step',
    'select outbox.close_new()',
    'to service_role',
  ]
  expect(inOrder.toSorted((a, b) => sql.indexOf(a) - sql.indexOf(b))).toEqual(inOrder)
  expect(inOrder.filter((statement) => !sql.includes(statement))).toEqual([])
})

Deno.test('no file outside of the folder needs the kind ntfy', async () => {
  const texts = ['CONTRIBUTING.md', 'CHANGELOG.md', 'tests/project/contributing.test.ts']
  const named: string[] = []
  for (const path of await projectFiles()) {
    if (path.startsWith(`${example}/`) || texts.includes(path)) continue
    if (/\bntfy|ntfy\b/i.test(await readProjectFile(path) ?? '')) named.push(path)
  }
  expect(named).toEqual([])
})

Deno.test('the section names functions and columns that exist', async () => {
  const names = [...section.matchAll(/`(\w+_\w+)(?:\(\))?`/g)].map(([, name = '']) => name)
  expect(names).toContain('put_credentials')
  const schema = await readProjectFile('tests/sql/schema.expected.sql') ?? ''
  const functions = await readProjectFile('tests/sql/schema/functions.expected.txt') ?? ''
  const own = await readProjectFile(`${example}/ntfy.sql`) ?? ''
  const exists = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(schema + functions + own) || name === 'service_role'
  expect(names.filter((name) => !exists(name))).toEqual([])
})

/** The files in the backquotes of a part, for the kind slack. */
function pathsOf(part: string): string[] {
  return [...part.matchAll(/`([\w./<>-]+\.(?:ts|sql|md|toml))`/g)]
    .map(([, path = '']) => path.replaceAll('<kind>', 'slack'))
}
