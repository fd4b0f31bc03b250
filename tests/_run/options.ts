/** What the person asked the runner for. */
export interface Options {
  /** Run the long tests instead of the ordinary ones. */
  soak: boolean
  /** With soak: the shortened form that CI runs. */
  short: boolean
  /** Run what stands in `behind_all.ts` too. */
  all: boolean
  /** List the slowest tests and files at the end. */
  slow: boolean
  /** Words that select tests by file path or by name; none selects all. */
  words: string[]
}

export type ParsedOptions = { ok: true; options: Options } | { ok: false; message: string }

const known = ['--all', '--slow', '--soak', '--short']

/** Read the runner's arguments: `[words…]` and options. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const flags = args.filter((arg) => arg.startsWith('-'))
  const unknown = flags.find((flag) => !known.includes(flag))
  if (unknown !== undefined) {
    const all = `${known.slice(0, -1).join(', ')} and ${known.at(-1)}`
    return { ok: false, message: `Unknown option "${unknown}": known are ${all}` }
  }
  const [all, slow, soak, short] = known.map((flag) => flags.includes(flag))
  if (short && !soak) return { ok: false, message: '--short goes with --soak only' }
  if (all && soak) return { ok: false, message: '--all does not go with --soak' }
  const words = args.filter((arg) => !arg.startsWith('-') && arg !== '')
  return {
    ok: true,
    options: {
      soak: soak ?? false,
      short: short ?? false,
      // Who names a test wants it, however long it takes.
      all: (all ?? false) || words.length > 0,
      slow: slow ?? false,
      words,
    },
  }
}
