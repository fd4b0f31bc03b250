import { type Assertion, type Part, PatternError } from './syntax.ts'

/**
 * A pattern as states. `one` continues with the next state if the character matches, `assert` if the
 * condition holds here. `split` continues with the next state and with `to`, `jump` only with `to`.
 */
export type State =
  | { do: 'one'; source: string }
  | { do: 'assert'; what: Assertion }
  | { do: 'split'; to: number }
  | { do: 'jump'; to: number }
  | { do: 'accept' }

/** The largest number of states of one pattern. `a{1,100}` has 100 copies of the states of `a`. */
export const mostStates = 2000

/** The states of a part, which ends with `accept`. Throws PatternError above 2,000 states. */
export function writeStates(part: Part): State[] {
  const states: State[] = []
  write(part, states)
  add(states, { do: 'accept' })
  return states
}

function add(states: State[], state: State): void {
  if (states.length >= mostStates) {
    throw new PatternError(
      `has more than ${mostStates} states`,
      'Repeat fewer times, such as {1,100}, or use minLength and maxLength',
    )
  }
  states.push(state)
}

function write(part: Part, states: State[]): void {
  if (part.kind === 'one') return add(states, { do: 'one', source: part.source })
  if (part.kind === 'assert') return add(states, { do: 'assert', what: part.what })
  if (part.kind === 'sequence') return part.parts.forEach((item) => write(item, states))
  if (part.kind === 'choice') return writeChoice(part.options, states)
  writeRepeat(part, states)
}

function writeChoice(options: Part[], states: State[]): void {
  const ends: { do: 'jump'; to: number }[] = []
  options.forEach((option, at) => {
    if (at === options.length - 1) return write(option, states)
    const split = { do: 'split', to: 0 } as const satisfies State as { do: 'split'; to: number }
    const jump: { do: 'jump'; to: number } = { do: 'jump', to: 0 }
    add(states, split)
    write(option, states)
    add(states, jump)
    split.to = states.length
    ends.push(jump)
  })
  for (const end of ends) end.to = states.length
}

function writeRepeat(
  { part, least, most }: { part: Part; least: number; most: number },
  states: State[],
): void {
  for (let times = 0; times < least; times++) {
    const before = states.length
    write(part, states)
    // Repeating an empty part adds no state, so do not repeat it a billion times.
    if (states.length === before) return
  }
  if (most === Infinity) return writeStar(part, states)
  // x{0,3} as (x(x(x)?)?)?: all splits lead to the same end, so few states are active at a time.
  const splits: { do: 'split'; to: number }[] = []
  for (let times = least; times < most; times++) {
    const split: { do: 'split'; to: number } = { do: 'split', to: 0 }
    add(states, split)
    splits.push(split)
    const before = states.length
    write(part, states)
    if (states.length === before) break
  }
  for (const split of splits) split.to = states.length
}

function writeStar(part: Part, states: State[]): void {
  const start = states.length
  const split: { do: 'split'; to: number } = { do: 'split', to: 0 }
  add(states, split)
  write(part, states)
  add(states, { do: 'jump', to: start })
  split.to = states.length
}
