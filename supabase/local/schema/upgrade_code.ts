import type { SqlFile } from './migration.ts'
import { splitStatements } from './statements.ts'

/** A statement of a file of sql/, as an upgrade sees it. */
export interface Code {
  path: string
  /** Without the comments before it. */
  text: string
  /** A comment on an object belongs to what can be repeated. */
  kind: 'function' | 'view' | 'comment' | 'other'
  /** The name of a function or a view; empty for others. */
  name: string
  /** The statement in the form that replaces what is there. */
  replacement: string
  /** Of a function: what `create or replace` cannot change. Empty for others. */
  signature: string
  /** The statements that drop a function; none for others. */
  drop: string[]
}

/** The statements of a file. */
export function readCode({ path, text }: SqlFile): Code[] {
  return splitStatements(text).map((statement) => codeOf(path, withoutHead(statement)))
    .filter(({ text: own }) => own !== '')
}

function withoutHead(statement: string): string {
  return statement.replace(/^(?:--[^\n]*(?:\n\s*|$))+/, '')
}

function codeOf(path: string, text: string): Code {
  const [, verb = '', name = ''] =
    /^create (?:or replace )?(function|procedure|view)\s+outbox\.(\w+)/.exec(text) ?? []
  const kind = verb === ''
    ? text.startsWith('comment on ') ? 'comment' : 'other'
    : verb === 'view'
    ? 'view'
    : 'function'
  const code = { path, text, kind, name, replacement: text, signature: '', drop: [] } as const
  if (verb === '') return { ...code, drop: [] }
  const replacement = text.replace(/^create (?:or replace )?/, 'create or replace ')
  if (kind === 'view') return { ...code, replacement, drop: [] }
  const { list, rest } = argumentsOf(text)
  const [result = ''] = rest.split(/\blanguage\b/)
  return {
    ...code,
    replacement,
    signature: plain(`${verb} ${name} (${list.join(', ')}) ${result}`),
    drop: [`drop ${verb} outbox.${name}(${list.join(', ')});`],
  }
}

/** The arguments of a function without their defaults, and what comes behind them. */
function argumentsOf(text: string): { list: string[]; rest: string } {
  const start = text.indexOf('(') + 1
  const list: string[] = []
  let depth = 0
  let from = start
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === "'") at = text.indexOf("'", at + 1)
    else if (char === '(' || char === '[') depth += 1
    else if ((char === ')' || char === ']') && depth > 0) depth -= 1
    else if (depth === 0 && (char === ',' || char === ')')) {
      list.push(plain(text.slice(from, at).split(/\s+default\s|\s+=\s/)[0] ?? ''))
      from = at + 1
      if (char === ')') return { list: list.filter((one) => one !== ''), rest: text.slice(from) }
    }
  }
  throw new Error(`the arguments have no end: ${text.slice(0, 60)}`)
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
