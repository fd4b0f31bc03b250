import type { Steps } from '../steps.ts'
import { characterTest, type Fits } from './character.ts'
import { Automaton } from './automaton.ts'
import { writeStates } from './program.ts'
import { countProperties, parsePattern } from './syntax.ts'

/** How many states `\p{L}` counts for, because its tables are large. */
const statesOfProperty = 100

/**
 * A regular expression that is matched in linear time. It follows all alternatives at once and does
 * not backtrack, so a text takes at most its length times `states` steps. The syntax is that of
 * ECMAScript with the flag u, without backreferences and lookbehind, and with lookahead only at the
 * start.
 */
export class Pattern {
  /** The size of the compiled pattern. */
  readonly states: number
  readonly #main: Automaton
  readonly #conditions: { automaton: Automaton; holds: boolean }[]

  /** Throws PatternError. */
  constructor(source: string) {
    const { main, conditions } = parsePattern(source)
    const tests = new Map<string, Fits>()
    const testOf = (one: string): Fits => {
      const test = tests.get(one) ?? characterTest(one)
      tests.set(one, test)
      return test
    }
    this.#main = new Automaton(writeStates(main), testOf)
    this.#conditions = conditions.map(({ part, holds }) => {
      const states = writeStates({ kind: 'sequence', parts: [{ kind: 'assert', what: '^' }, part] })
      return { automaton: new Automaton(states, testOf), holds }
    })
    this.states = [this.#main, ...this.#conditions.map(({ automaton }) => automaton)]
      .reduce((sum, { size }) => sum + size, statesOfProperty * countProperties(source))
  }

  /** Whether the pattern matches anywhere in the text. Throws TooManySteps. */
  test(text: string, steps: Steps): boolean {
    return this.#main.test(text, steps) &&
      this.#conditions.every(({ automaton, holds }) => automaton.test(text, steps) === holds)
  }
}
