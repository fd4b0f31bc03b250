/** What the person asked the runner for. */
export interface Options {
  /** Run the long tests instead of the ordinary ones. */
  soak: boolean
  /** With soak: the shortened form that CI runs. */
  short: boolean
  /** Words that select tests by file path or by name; none selects all. */
  words: string[]
  /** The major version of Postgres to test on; null: the one that is installed. */
  postgres: 17 | null
}

export type ParsedOptions = { ok: true; options: Options } | { ok: false; message: string }

/** Read the runner's arguments: `[words…]`, `--soak`, `--short`, `--postgres 17`. */
export function parseOptions(given: readonly string[]): ParsedOptions {
  const at = given.indexOf('--postgres')
  const version = at < 0 ? null : given[at + 1]
  if (version !== null && version !== '17') {
    return { ok: false, message: '--postgres takes 17; without it the installed one is tested on' }
  }
  const args = at < 0 ? given : given.toSpliced(at, 2)
  const flags = args.filter((arg) => arg.startsWith('-'))
  const unknown = flags.find((flag) => flag !== '--soak' && flag !== '--short')
  if (unknown !== undefined) {
    return {
      ok: false,
      message: `Unknown option "${unknown}": known are --soak, --short and --postgres 17`,
    }
  }
  const soak = flags.includes('--soak')
  const short = flags.includes('--short')
  if (short && !soak) return { ok: false, message: '--short goes with --soak only' }
  const words = args.filter((arg) => !arg.startsWith('-') && arg !== '')
  return { ok: true, options: { soak, short, words, postgres: version === null ? null : 17 } }
}
