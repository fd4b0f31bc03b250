import type { Steps } from '../steps.ts'
import type { Fits } from './character.ts'
import type { State } from './program.ts'
import type { Assertion } from './syntax.ts'

const accept = 0
const one = 1
const jump = 2
const split = 3
const assert = 4
const codes = { accept, one, jump, split, assert } as const

/** Follows all states of a pattern at once, one character after the other. */
export class Automaton {
  readonly size: number
  readonly #codes: Uint8Array
  readonly #targets: Int32Array
  readonly #fits: (Fits | null)[]
  readonly #asserts: (Assertion | null)[]
  readonly #isAnchored: boolean
  /** The position at which each state was last entered, so that it is entered once for each position. */
  readonly #entered: Int32Array
  readonly #stack: Int32Array
  /** The states that wait for the character at the current position, and at the next one. */
  #alive: Int32Array
  #next: Int32Array
  #count = 0

  constructor(states: State[], testOf: (source: string) => Fits) {
    this.size = states.length
    this.#codes = Uint8Array.from(states, (state) => codes[state.do])
    this.#targets = Int32Array.from(states, (state) => 'to' in state ? state.to : 0)
    this.#fits = states.map((state) => state.do === 'one' ? testOf(state.source) : null)
    this.#asserts = states.map((state) => state.do === 'assert' ? state.what : null)
    this.#isAnchored = this.#asserts[0] === '^'
    this.#entered = new Int32Array(states.length)
    this.#stack = new Int32Array(2 * states.length + 2)
    this.#alive = new Int32Array(states.length)
    this.#next = new Int32Array(states.length)
  }

  /** Whether the states accept a part of the text. Throws TooManySteps. */
  test(text: string, steps: Steps): boolean {
    steps.take(1 + (this.size >> 5))
    this.#entered.fill(-1)
    this.#count = 0
    if (this.#enter(0, text, 0, steps)) return true
    for (let at = 0; at < text.length;) {
      const count = this.#count
      // Beyond the start, an anchored pattern cannot begin.
      if (count === 0 && this.#isAnchored) return false
      const codePoint = text.codePointAt(at) ?? 0
      at += codePoint > 0xffff ? 2 : 1
      const alive = this.#next
      this.#next = this.#alive
      this.#alive = alive
      this.#count = 0
      steps.take(1 + count)
      for (let index = 0; index < count; index++) {
        const state = this.#next[index] ?? 0
        if (this.#fits[state]?.(codePoint) !== true) continue
        if (this.#enter(state + 1, text, at, steps)) return true
      }
      if (!this.#isAnchored && this.#enter(0, text, at, steps)) return true
    }
    return false
  }

  /** Adds the states that can be reached without a character; returns whether the end is reached. */
  #enter(from: number, text: string, at: number, steps: Steps): boolean {
    const stack = this.#stack
    let depth = 0
    let count = 0
    for (let index = from;; index = stack[--depth] ?? 0) {
      if (this.#entered[index] !== at) {
        this.#entered[index] = at
        count++
        const code = this.#codes[index]
        if (code === accept) return true
        if (code === one) this.#alive[this.#count++] = index
        else if (code === jump) stack[depth++] = this.#targets[index] ?? 0
        else {
          if (code === split) stack[depth++] = this.#targets[index] ?? 0
          if (code === split || holds(this.#asserts[index] ?? '^', text, at)) {
            stack[depth++] = index + 1
          }
        }
      }
      if (depth === 0) break
    }
    steps.take(count)
    return false
  }
}

function holds(what: Assertion, text: string, at: number): boolean {
  if (what === '^') return at === 0
  if (what === '$') return at === text.length
  const isEdge = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))
  return isEdge === (what === '\\b')
}

/** A letter, digit or underscore of ASCII; NaN beyond the text is none. */
function isWord(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) ||
    (unit >= 48 && unit <= 57) || unit === 95
}
