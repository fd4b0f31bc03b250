import { type SqlToken, sqlTokens } from './sql_tokens.ts'

/** Functions that may catch every error: each keeps a failure of the user's own code to itself. */
export interface SqlRules {
  mayCatchOthers: readonly string[]
}

/**
 * Checks one SQL file against the house rules and returns each breach as `line N: …`:
 * lower-case keywords, a WHERE in every UPDATE and DELETE (the platform's safeupdate refuses them
 * otherwise), no SQLSTATE 40001 (PostgREST before v16 repeats the call for ever), `when others` in
 * the named functions only, with `assert_failure`, a cast at the literal of a uuid or jsonb variable (`supabase db
 * lint` warns without it), and lines of 100 characters at most.
 */
export function checkSql(text: string, rules: SqlRules): string[] {
  const tokens = sqlTokens(text)
  const found: { line: number; breach: string }[] = [
    ...upperCase(tokens),
    ...withoutWhere(tokens),
    ...catchesAll(tokens, rules.mayCatchOthers),
    ...serialization(text),
    ...withoutCast(text),
    ...tooWide(text),
  ]
  return found.sort((a, b) => a.line - b.line).map(({ line, breach }) => `line ${line}: ${breach}`)
}

interface Breach {
  line: number
  breach: string
}

function upperCase(tokens: SqlToken[]): Breach[] {
  return tokens
    .filter(({ text }) => /^[A-Z][A-Z_]+$/.test(text))
    .map(({ text, line }) => ({ line, breach: `${text} is not lower case` }))
}

/** What stands before UPDATE or DELETE when it is part of another clause. */
const clauseBefore = /^(for|key|do|on|before|after|or|of|grant|revoke|,)$/

function withoutWhere(tokens: SqlToken[]): Breach[] {
  const found: Breach[] = []
  tokens.forEach(({ text, line }, index) => {
    const statement = text === 'update' || (text === 'delete' && tokens[index + 1]?.text === 'from')
    if (!statement || clauseBefore.test(tokens[index - 1]?.text ?? '')) return
    if (!hasWhere(tokens, index + 1)) found.push({ line, breach: `${text} without where` })
  })
  return found
}

/** Looks for WHERE up to the end of the statement, outside of brackets that open within it. */
function hasWhere(tokens: SqlToken[], from: number): boolean {
  let depth = 0
  for (const { text } of tokens.slice(from)) {
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
    if (depth < 0 || (depth === 0 && text === ';') || /^\$\w*\$$/.test(text)) return false
    if (depth === 0 && text === 'where') return true
  }
  return false
}

function catchesAll(tokens: SqlToken[], allowed: readonly string[]): Breach[] {
  const found: Breach[] = []
  let name = '(no function)'
  tokens.forEach(({ text, line }, index) => {
    if (text === 'function' || text === 'procedure') name = nameAt(tokens, index + 1) ?? name
    if (text === 'do' && tokens[index + 1]?.text.startsWith('$')) name = '(do block)'
    const others = text === 'others' && /^(when|or)$/.test(tokens[index - 1]?.text ?? '')
    if (others && !allowed.includes(name)) {
      found.push({ line, breach: `when others in ${name}, which may not catch every error` })
    }
    // OTHERS leaves out two errors, and a trigger may raise both.
    if (others && tokens[index - 2]?.text === 'query_canceled') {
      found.push({ line, breach: `others in ${name} does not catch assert_failure` })
    }
  })
  return found
}

function nameAt(tokens: SqlToken[], index: number): string | undefined {
  const [schema, dot, name] = tokens.slice(index, index + 3)
  return dot?.text === '.' ? name?.text : schema?.text
}

function withoutCast(text: string): Breach[] {
  return text.split('\n').flatMap((content, index) =>
    /^\s*\w+ (?:constant )?(uuid|jsonb) := '[^']*';/.test(content)
      ? [{ line: index + 1, breach: 'a literal without a cast to the type of its variable' }]
      : []
  )
}

function serialization(text: string): Breach[] {
  const found: Breach[] = []
  text.split('\n').forEach((content, index) => {
    if (/40001|serialization_failure/.test(content)) {
      found.push({ line: index + 1, breach: 'SQLSTATE 40001 makes PostgREST repeat the call' })
    }
  })
  return found
}

const mostColumns = 100

function tooWide(text: string): Breach[] {
  const found: Breach[] = []
  text.split('\n').forEach((content, index) => {
    const columns = [...content].length
    if (columns > mostColumns) {
      found.push({ line: index + 1, breach: `${columns} characters, more than ${mostColumns}` })
    }
  })
  return found
}
