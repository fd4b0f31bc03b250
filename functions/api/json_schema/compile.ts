import { PatternError } from '../pattern/syntax.ts'
import { Pattern } from '../pattern/pattern.ts'
import { isDeeper } from '../../_shared/http/json_depth.ts'
import { checkCost } from './cost.ts'
import { keywordsOf } from './keywords.ts'
import { mismatch, Node } from './node.ts'
import { References } from './references.ts'
import { isObject, refuse, type Source } from './source.ts'

const mostCharacters = 65_536
/** Levels of JSON, and of schemas within schemas. */
const mostLevels = 64
const mostDepth = 32
/** The states of all patterns. */
const mostStates = 10_000
/** Schemas within a schema. Each takes about 500 bytes when it is compiled. */
const mostNodes = 5000
/** Compiling one schema within another takes as long as so many steps of a check. */
const stepsOfNode = 100

/** A compiled schema, and the steps of compiling it, to which its memory is proportional too. */
export type Compiled = { root: Node; steps: number }

type Work = { raw: Record<string, unknown>; node: Node; depth: number }

/**
 * Compiles a JSON Schema (2020-12) whose references stay within it. The work is linear in its size.
 * Throws ApiError for a schema that is invalid, too large, or too costly for a single value.
 */
export function compileSchema(schema: unknown): Compiled {
  const characters = checkSize(schema)
  const compiler = new Compiler(schema)
  const root = compiler.compile(schema)
  checkCost(compiler.nodes)
  return { root, steps: characters + stepsOfNode * compiler.nodes.length }
}

/** Returns the number of characters. */
function checkSize(schema: unknown): number {
  let text = ''
  try {
    text = JSON.stringify(schema)
  } catch {
    // Nested so deeply that the stack overflows.
  }
  if (text === '' || isDeeper(new TextEncoder().encode(text), mostLevels)) {
    refuse('schema', `has more than ${mostLevels} levels`, 'Use $defs and $ref')
  }
  if (text.length > mostCharacters) {
    refuse('schema', `has more than ${mostCharacters} characters`, 'Leave out descriptions')
  }
  return text.length
}

class Compiler {
  readonly nodes: Node[] = []
  readonly #references: References
  /** By schema, so that each is compiled once, however many references name it. */
  readonly #known = new Map<unknown, Node>()
  readonly #patterns = new Map<string, Pattern>()
  /** Instead of recursion, because references can form long chains. */
  readonly #waiting: Work[] = []
  #states = 0

  constructor(schema: unknown) {
    this.#references = new References(schema)
  }

  compile(schema: unknown): Node {
    const root = this.#nodeOf(schema, 'schema', 0)
    for (let work = this.#waiting.pop(); work !== undefined; work = this.#waiting.pop()) {
      const source = this.#sourceOf(work)
      for (const add of keywordsOf(work.raw)) add(source)
    }
    return root
  }

  #sourceOf({ raw, node, depth }: Work): Source {
    return {
      raw,
      path: node.path,
      node,
      part: (part, path) => this.#nodeOf(part, path, depth + 1),
      reference: (text, path) => {
        const found = this.#references.find(text, raw)
        if (found === undefined || !(isObject(found) || typeof found === 'boolean')) {
          refuse(path, 'names no part of the schema', 'Expected something like #/$defs/item')
        }
        return this.#nodeOf(found, `schema${text.slice(1).replaceAll('/', '.')}`, 0)
      },
      pattern: (text, path) => this.#patternOf(text, path),
    }
  }

  #nodeOf(raw: unknown, path: string, depth: number): Node {
    if (typeof raw === 'boolean') return raw ? anything : nothing
    if (!isObject(raw)) refuse(path, 'is not a schema', 'Expected an object, true or false')
    if (depth > mostDepth) {
      refuse(path, `is nested more than ${mostDepth} deep`, 'Use $defs and $ref')
    }
    const known = this.#known.get(raw)
    if (known !== undefined) return known
    if (this.nodes.length >= mostNodes) {
      refuse(
        path,
        `is one of more than ${mostNodes.toLocaleString('en-US')} schemas within the schema`,
        'Write a large anyOf or oneOf as enum, true instead of {}, and equal parts once in $defs',
      )
    }
    const node = new Node(path)
    this.#known.set(raw, node)
    this.nodes.push(node)
    this.#waiting.push({ raw, node, depth })
    return node
  }

  #patternOf(text: unknown, path: string): Pattern {
    if (typeof text !== 'string') {
      refuse(path, 'is not a text', 'Expected a regular expression such as ^[a-z]+$')
    }
    const known = this.#patterns.get(text)
    if (known !== undefined) return known
    const pattern = makePattern(text, path)
    this.#patterns.set(text, pattern)
    this.#states += pattern.states
    if (this.#states > mostStates) {
      refuse(
        path,
        `makes the patterns of the schema larger than ${mostStates} states`,
        'Repeat fewer times, such as {1,100}, or use minLength and maxLength',
      )
    }
    return pattern
  }
}

function makePattern(text: string, path: string): Pattern {
  try {
    return new Pattern(text)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    refuse(path, error.message, error.remedy)
  }
}

const anything = new Node('schema')
const nothing = new Node('schema')
nothing.checks.push(() => mismatch('No value fits here'))
