import { parse } from 'smol-toml'
import { isDeepStrictEqual } from 'node:util'
import { unknownSchemas, wrongSettings } from './config_checks.ts'
import { addToArrays } from './toml_array.ts'
import { keyOf, type Table, tableAt, tableOf } from './toml_table.ts'

/** What `init` needs in supabase/config.toml. */
export interface ConfigNeeds {
  /** The schema that the Data API exposes. */
  schema: string
  /** The names of the functions. */
  functions: readonly string[]
}

/** What is done to config.toml, and what is left to a person. */
export interface ConfigEdit {
  /** The new text; the same text if no edit is needed or proved. */
  text: string
  /** Lines that a person must add or change, because no edit of the text has the right meaning. */
  byHand: string[]
  /** What a person must check, because config.toml does not say it. */
  notes: string[]
}

/** What the Supabase CLI exposes if config.toml does not say. */
const defaultSchemas = ['public', 'graphql_public']

/**
 * Adds what is missing and leaves all else as it is, with comments and order. Each edit of the text is
 * parsed again: it is taken only if the result is the old content with exactly the missing keys.
 * Throws a SyntaxError of the parser if the text is not TOML.
 */
export function editConfig(text: string, needs: ConfigNeeds): ConfigEdit {
  const config = parse(text)
  const tables = schemaTables(config, needs.schema)
  const missing = [
    ...tables.map((path) => exposed(config, path, needs.schema)),
    ...needs.functions.map(withFunction),
  ]
  let edited = text
  const byHand: string[] = []
  for (const { apply, candidates, lines } of missing) {
    const wanted = parse(edited)
    if (!apply(wanted)) continue
    const right = candidates(edited).find((one) => hasContent(one, wanted))
    // What is proved is written, whatever else is left to a person.
    if (right === undefined) byHand.push(...lines)
    else edited = right
  }
  return {
    text: edited,
    byHand: [...byHand, ...wrongSettings(config, needs.functions)],
    notes: unknownSchemas(config, needs.schema),
  }
}

/** One change of the content, and the edits of the text that may have this meaning. */
interface Change {
  /** Changes the content; returns false if it already has it. */
  apply(config: Table): boolean
  candidates(text: string): string[]
  /** What a person must do if no candidate is right. */
  lines: string[]
}

/** Whether the text is TOML with this content. */
export function hasContent(text: string, wanted: Table): boolean {
  try {
    // The clones have no prototypes of the parser.
    return isDeepStrictEqual(structuredClone(parse(text)), structuredClone(wanted))
  } catch {
    return false
  }
}

/** The tables that say which schemas are exposed: `api`, and that of each remote that says so itself. */
function schemaTables(config: Table, schema: string): string[][] {
  const remotes = tableOf(config.remotes)
  const own = Object.keys(remotes).filter((name) => {
    const { schemas } = tableOf(tableOf(remotes[name]).api)
    return Array.isArray(schemas) && !schemas.includes(schema)
  })
  return [['api'], ...own.map((name) => ['remotes', name, 'api'])]
}

function exposed(config: Table, path: string[], schema: string): Change {
  const { schemas: own = defaultSchemas } = tableAt(config, path)
  const all = [...Array.isArray(own) ? own : [], schema].map((name) => JSON.stringify(name))
  const line = `schemas = [${all.join(', ')}]`
  const key = path.map(keyOf).join('.')
  return {
    apply(config): boolean {
      const table = path.reduce<Table>((at, name) => tableOf(at[name] ??= {}), config)
      const { schemas = defaultSchemas } = table
      if (!Array.isArray(schemas) || schemas.includes(schema)) return false
      table.schemas = [...schemas, schema]
      return true
    },
    candidates: (text) => [
      ...addToArrays(text, 'schemas', JSON.stringify(schema)),
      ...afterHeaders(text, key, line),
      appended(text, [`[${key}]`, line]),
      `${key}.${line}${newlineOf(text)}${text}`,
    ],
    lines: [`In [${key}], add "${schema}" to schemas:`, `  ${line}`],
  }
}

function withFunction(name: string): Change {
  // Without a value, the platform keeps what it had.
  const lines = [`[functions.${name}]`, 'enabled = true', 'verify_jwt = false']
  const inline = `${name} = { enabled = true, verify_jwt = false }`
  return {
    apply(config): boolean {
      const functions = tableOf(config.functions ??= {})
      if (Object.hasOwn(functions, name)) return false
      functions[name] = { enabled: true, verify_jwt: false }
      return true
    },
    candidates: (text) => [appended(text, lines), ...inInlineTables(text, 'functions', inline)],
    lines: ['Add to functions, in the form that it has:', `  ${inline}`],
  }
}

/** The text with the entry at the start of each inline table of this name. */
function inInlineTables(text: string, name: string, entry: string): string[] {
  const start = new RegExp(String.raw`(?<![\w-])["']?${name}["']?[ \t]*=[ \t]*\{`, 'g')
  return [...text.matchAll(start)].flatMap(({ 0: { length }, index }) => {
    const [before, after] = [text.slice(0, index + length), text.slice(index + length)]
    return [`${before} ${entry},${after}`, `${before} ${entry} ${after}`]
  })
}

/** The text with the line behind each header of the table. */
function afterHeaders(text: string, table: string, line: string): string[] {
  const header = new RegExp(
    String.raw`^[ \t]*\[[ \t]*["']?${table.replaceAll('.', '\\.')}["']?[ \t]*\][^\n]*$`,
    'gm',
  )
  return [...text.matchAll(header)].map(({ 0: found, index }) => {
    const end = index + found.length
    const isCut = end < text.length
    return text.slice(0, end) + (isCut ? '\n' : newlineOf(text)) + line +
      (text.includes('\r\n') ? '\r' : '') + text.slice(end)
  })
}

/** The text with a section at its end, behind an empty line. */
function appended(text: string, lines: readonly string[]): string {
  const newline = newlineOf(text)
  const end = text === '' || text.endsWith('\n') ? '' : newline
  const gap = text.trim() === '' ? '' : newline
  return text + end + gap + lines.map((line) => line + newline).join('')
}

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
