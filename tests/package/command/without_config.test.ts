/** uninstall takes what init has added out of config.toml, in any form, and nothing else. */

import { expect } from '@std/expect'
import { parse } from 'smol-toml'
import { editConfig } from '../../../package/command/init/config_toml.ts'
import { withoutConfig } from '../../../package/command/uninstall/without_config.ts'
import { shapes } from './config_shapes.ts'

const needs = { schema: 'outbox', functions: ['outhook-deliver', 'outhook-api'] }

/** The comments of a text. */
function comments(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.includes('#'))
    .map((line) => line.slice(line.indexOf('#')))
}

for (const [name, text] of Object.entries(shapes)) {
  Deno.test(`withoutConfig() takes out of ${name} what init has added`, () => {
    const { text: after, byHand } = withoutConfig(editConfig(text, needs).text, needs)
    const content = JSON.stringify(parse(after))
    if (byHand.length === 0) expect(content).not.toMatch(/"outbox"|outhook-/)
    expect(comments(text).filter((comment) => !after.includes(comment))).toEqual([])
    expect(withoutConfig(after, needs).text).toBe(after)
  })
}

Deno.test('withoutConfig() restores the configuration of a new project', () => {
  const text = '[api]\nschemas = ["public", "graphql_public"] # ours\n\n[functions.mine]\n'
  expect(withoutConfig(editConfig(text, needs).text, needs)).toEqual({
    text,
    byHand: [],
    notes: [],
  })
})

Deno.test('withoutConfig() names what a person must remove', () => {
  const text = '[functions]\nouthook-deliver = { verify_jwt = false }\nmine = {}\n'
  expect(withoutConfig(text, needs))
    .toEqual({ text, byHand: ['Remove the section [functions.outhook-deliver]'], notes: [] })
})
