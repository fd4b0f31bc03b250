import { parse } from 'smol-toml'
import { type ConfigEdit, type ConfigNeeds, hasContent } from '../init/config_toml.ts'
import { keyOf, type Table, tableAt, tableOf } from '../init/toml_table.ts'

/**
 * Takes out what `init` has added to config.toml, and leaves all else as it is. As in `init`, an edit is
 * taken only if the result is the old content without exactly these keys. Throws a SyntaxError of the
 * parser if the text is not TOML.
 */
export function withoutConfig(text: string, { schema, functions }: ConfigNeeds): ConfigEdit {
  const config = parse(text)
  const paths = [
    ['api'],
    ...Object.keys(tableOf(config.remotes)).map((name) => ['remotes', name, 'api']),
  ]
  const removals = [
    ...paths.map((path) => withoutSchema(path, schema)),
    ...functions.map(withoutFunction),
  ]
  let edited = text
  const byHand: string[] = []
  for (const { apply, candidates, line } of removals) {
    const wanted = parse(edited)
    if (!apply(wanted)) continue
    const right = candidates(edited).find((one) => hasContent(one, wanted))
    if (right === undefined) byHand.push(line)
    else edited = right
  }
  return { text: edited, byHand, notes: [] }
}

interface Removal {
  /** Changes the content; returns false if the key is not there. */
  apply(config: Table): boolean
  /** Texts of which one may have the wanted content. */
  candidates(text: string): string[]
  /** What a person must do if none has. */
  line: string
}

function withoutSchema(path: string[], schema: string): Removal {
  const element = `["']${schema}["']`
  return {
    apply(config): boolean {
      const table = tableAt(config, path)
      const { schemas } = table
      if (!Array.isArray(schemas) || !schemas.includes(schema)) return false
      table.schemas = schemas.filter((name) => name !== schema)
      return true
    },
    candidates: (text) =>
      [`,\\s*${element}`, `${element}\\s*,[ \\t]*`, element].flatMap((form) =>
        [...text.matchAll(new RegExp(form, 'g'))].map(({ 0: found, index }) =>
          text.slice(0, index) + text.slice(index + found.length)
        )
      ),
    line: `In [${path.map(keyOf).join('.')}], remove "${schema}" from schemas`,
  }
}

function withoutFunction(name: string): Removal {
  return {
    apply(config): boolean {
      const functions = tableOf(config.functions)
      if (!Object.hasOwn(functions, name)) return false
      delete functions[name]
      if (Object.keys(functions).length === 0) delete config.functions
      return true
    },
    candidates: (text) => {
      // What init writes, then a section that somebody has changed.
      const header = `\\[functions\\.${name}\\][ \\t]*\\r?\\n`
      const own = `${header}enabled = true\\r?\\nverify_jwt = false(?:\\r?\\n|$)`
      const any = `${header}(?:[^\\[\\r\\n][^\\n]*\\n|\\r?\\n)*?(?=\\[|$)`
      return [`\\r?\\n${own}`, own, any].flatMap((form) =>
        [...text.matchAll(new RegExp(form, 'g'))].map(({ 0: found, index }) =>
          text.slice(0, index) + text.slice(index + found.length)
        )
      )
    },
    line: `Remove the section [functions.${name}]`,
  }
}
