/** A small fault in the product, and the tests that must notice it. */
export interface Mutant {
  /** The file that is changed, as a path from the root. */
  file: string
  /** A text that occurs exactly once in the file. */
  find: string
  /** What stands in its place in the mutant. */
  replace: string
  /**
   * Test files, as paths from `tests/`, at least one of which must fail. `path#words` runs only the
   * tests of a TypeScript file whose names contain the words.
   */
  tests: readonly string[]
  /** What goes wrong for a user of the product when this fault is in it. */
  why: string
  /**
   * For SQL files, when the changed statement cannot be run again on a database that has the schema:
   * the statement that brings such a database to the same state.
   */
  sql?: string
  /** Why no test can fail: the mutant behaves as the product does. */
  equivalent?: string
}

/** The mutants of one part of the product. */
export interface Area {
  name: string
  mutants: readonly Mutant[]
}

/** The text of a file with the mutant's change, or why it does not apply. */
export function mutate(
  text: string,
  { find, replace }: Pick<Mutant, 'find' | 'replace'>,
): { ok: true; text: string } | { ok: false; reason: string } {
  if (find === replace) return { ok: false, reason: 'it changes nothing' }
  const parts = text.split(find)
  if (parts.length !== 2) {
    return { ok: false, reason: `its text occurs ${parts.length - 1} times, not once` }
  }
  return { ok: true, text: parts.join(replace) }
}

/** A test that a mutant names: the file as a path from the root, and words of the tests' names. */
export function namedTest(entry: string): { path: string; words: string | null } {
  const [path = '', words] = entry.split('#')
  return { path: `tests/${path}`, words: words ?? null }
}
