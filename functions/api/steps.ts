/** Thrown when a check needs more steps than it may take, or goes too deep. */
export class TooManySteps extends Error {
  constructor(problem: string) {
    super(problem)
    this.name = 'TooManySteps'
  }
}

/** How many schemas may be nested during a check, so that the stack does not overflow. */
const mostDepth = 1000

/**
 * Counts the work of a check in steps: one keyword of a schema at one value, or one state of a
 * pattern at one character. The same input always takes the same steps, on every machine.
 */
export class Steps {
  /** How many steps may be taken in all. */
  readonly most: number
  #taken = 0
  #compiled = 0
  #depth = 0

  constructor(most: number) {
    this.most = most
  }

  get taken(): number {
    return this.#taken
  }

  /** The steps of compiling schemas. They are charged, but no budget of payloads limits them. */
  get compiled(): number {
    return this.#compiled
  }

  /** Counts the steps of compiling a schema. */
  addCompiled(count: number): void {
    this.#compiled += count
  }

  /** Counts `count` steps, before the work itself. Throws TooManySteps if fewer are left. */
  take(count: number): void {
    if (count > this.most - this.#taken) {
      throw new TooManySteps(`takes more than ${this.most.toLocaleString('en-US')} steps`)
    }
    this.#taken += count
  }

  /** Counts an operation of the JavaScript engine over a text: one step for 32 characters. */
  takeText(text: string): void {
    this.take(1 + (text.length >> 5))
  }

  /** Enters a schema, which counts one step. leave() follows, unless an error ends the check. */
  enter(): void {
    this.take(1)
    this.#depth++
    if (this.#depth > mostDepth) {
      throw new TooManySteps(`goes through more than ${mostDepth} schemas within each other`)
    }
  }

  leave(): void {
    this.#depth--
  }
}
