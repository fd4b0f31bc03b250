/** init changes config.toml in any form without touching anything else. */

import { expect } from '@std/expect'
import { parse } from 'smol-toml'
import { editConfig } from '../../../package/command/init/config_toml.ts'
import { shapes, shapesByHand } from './config_shapes.ts'

const functions = ['outhook-deliver', 'outhook-api']
const needs = { schema: 'outbox', functions }

function edited(text: string): string {
  const edit = editConfig(text, needs)
  expect([...edit.byHand, ...edit.notes]).toEqual([])
  return edit.text
}

interface Content {
  api?: { schemas?: string[] }
  functions?: Record<string, unknown>
  remotes?: Record<string, { api?: { schemas?: string[] } }>
}

/** The content of a text with what is needed added, by other means than those of init. */
function expected(text: string): Content {
  // SAFETY: the forms of the test have these members.
  const content = parse(text) as Content
  const withOutbox = (schemas: string[]): string[] =>
    schemas.includes('outbox') ? schemas : [...schemas, 'outbox']
  const api = content.api ??= {}
  api.schemas = withOutbox(api.schemas ?? ['public', 'graphql_public'])
  for (const remote of Object.values(content.remotes ?? {})) {
    if (remote.api?.schemas !== undefined) remote.api.schemas = withOutbox(remote.api.schemas)
  }
  const own = content.functions ??= {}
  for (const name of functions) own[name] ??= { enabled: true, verify_jwt: false }
  return content
}

Deno.test('there are at least forty forms', () => {
  expect(Object.keys(shapes).length + Object.keys(shapesByHand).length)
    .toBeGreaterThanOrEqual(40)
})

for (const [name, text] of Object.entries(shapes)) {
  Deno.test(`editConfig() adds what is missing to ${name}, and nothing twice`, () => {
    const after = edited(text)
    expect(parse(after)).toEqual(expected(text))
    expect(edited(after)).toBe(after)
  })

  Deno.test(`editConfig() removes no text from ${name}`, () => {
    const after = edited(text)
    let at = 0
    for (const char of text) {
      at = after.indexOf(char, at) + 1
      expect(at).toBeGreaterThan(0)
    }
    const comments = text.split(/\r?\n/).filter((line) => line.includes('#'))
      .map((line) => line.slice(line.indexOf('#')))
    expect(comments.filter((comment) => !after.includes(comment))).toEqual([])
    // The ends of lines stay those of the file.
    expect(/(?<!\r)\n/.test(after)).toBe(/(?<!\r)\n/.test(text) || !text.includes('\r'))
  })
}

for (const [name, [text, says]] of Object.entries(shapesByHand)) {
  Deno.test(`editConfig() says what to change in ${name}, and writes all else`, () => {
    const { text: after, byHand, notes } = editConfig(text, needs)
    expect([byHand, notes]).toEqual([says, []])
    // Each need is either in the text or among the lines.
    const { api, functions: own = {} } = parse(after) as Content
    expect(api?.schemas).toContain('outbox')
    for (const name of functions) {
      expect(name in own || says.join('\n').includes(name)).toBe(true)
    }
    expect(editConfig(after, needs)).toEqual({ text: after, byHand, notes })
  })
}

Deno.test('editConfig() notes schemas that come from elsewhere, and declares the functions', () => {
  const { text, byHand, notes } = editConfig('[api]\nschemas = "env(SCHEMAS)"\n', needs)
  expect(parse(text)).toMatchObject({
    functions: { 'outhook-deliver': { verify_jwt: false }, 'outhook-api': { verify_jwt: false } },
  })
  expect([byHand, notes])
    .toEqual([[], ['api.schemas is "env(SCHEMAS)": check that its value has outbox']])
})

Deno.test('editConfig() keeps an array over several lines in its form', () => {
  const lines = edited('[api]\nschemas = [\n  "public", # ours\n  "storage" # last\n]\n').split(
    '\n',
  )
  expect(lines.slice(0, 6)).toEqual([
    '[api]',
    'schemas = [',
    '  "public", # ours',
    '  "storage", # last',
    '  "outbox"',
    ']',
  ])
  expect(edited('[api]\nschemas = ["public"] # exposed\n'))
    .toMatch(/^\[api\]\nschemas = \["public", "outbox"\] # exposed\n/)
})

Deno.test('editConfig() throws what is wrong with a text that is not TOML', () => {
  expect(() => editConfig('[api\n', needs)).toThrow()
})
