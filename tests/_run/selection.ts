/** Which part of a list of test files a filter selects. */
export interface Selection {
  /** Files that run whole. */
  whole: string[]
  /** Files of which only the tests that `names` matches run; empty without such words. */
  byName: string[]
  /** What test names must contain, one of them at least. */
  names: string[]
}

/**
 * A filter. Each word of the person's goes to one list: it names a step, or it is part of some
 * test file's path, or else it is looked for in the names of tests.
 */
export interface Filter {
  steps: string[]
  paths: string[]
  names: string[]
}

/** Sort the person's words, given the names of the steps and the paths of all test files. */
export function makeFilter(
  words: readonly string[],
  steps: readonly string[],
  paths: readonly string[],
): Filter {
  const filter: Filter = { steps: [], paths: [], names: [] }
  for (const word of words) {
    if (steps.includes(word)) filter.steps.push(word)
    else if (paths.some((path) => contains(path, word))) filter.paths.push(word)
    else filter.names.push(word)
  }
  return filter
}

/** Whether a filter selects all there is, because it has no words. */
export function selectsAll({ steps, paths, names }: Filter): boolean {
  return steps.length + paths.length + names.length === 0
}

/** What a filter selects of one step's files. */
export function select(filter: Filter, step: string, files: readonly string[]): Selection {
  if (selectsAll(filter) || filter.steps.includes(step)) {
    return { whole: [...files], byName: [], names: [] }
  }
  const whole = files.filter((file) => filter.paths.some((word) => contains(file, word)))
  const rest = filter.names.length === 0 ? [] : files.filter((file) => !whole.includes(file))
  return { whole, byName: rest, names: filter.names }
}

/**
 * Whether a step runs also what only `--all` runs: with `--all`, which words imply without `--short`, and with
 * `--short` if a word is the step's own name.
 */
export function runsAll({ all, filter }: { all: boolean; filter: Filter }, step: string): boolean {
  return all || filter.steps.includes(step)
}

/** A regular expression source that matches a name containing one of the words, in any case. */
export function namePattern(words: readonly string[]): RegExp {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return new RegExp(escaped.join('|'), 'i')
}

function contains(text: string, word: string): boolean {
  return text.toLowerCase().includes(word.toLowerCase())
}
