import { splitStatements } from '../../supabase/local/schema/statements.ts'

/**
 * The statements that a change of a file adds or alters, in a form that a database which already has
 * the schema takes. Null when there is none: a statement is gone, or makes what is there already.
 */
export function changedStatements(before: string, after: string): string | null {
  const known = new Set(splitStatements(before))
  const changed = splitStatements(after).filter((statement) => !known.has(statement))
  const again = changed.map((statement) => {
    const code = statement.replace(/^(?:--[^\n]*\n\s*)+/, '')
    if (/^create (function|procedure|view|trigger)\b/.test(code)) {
      return code.replace(/^create /, 'create or replace ')
    }
    return /^create (table|index|unique|type|sequence|schema|role)\b/.test(code) ? null : code
  })
  if (again.length === 0 || again.includes(null)) return null
  return again.map((statement) => `${statement};\n`).join('')
}
