/** What the person asked the runner for. */
export interface Options {
  /** Run the long tests instead of the ordinary ones. */
  soak: boolean
  /** With soak: the shortened form that CI runs. */
  short: boolean
  /** Words that select tests by file path or by name; none selects all. */
  words: string[]
}

export type ParsedOptions = { ok: true; options: Options } | { ok: false; message: string }

/** Read the runner's arguments: `[words…]`, `--soak`, `--short`. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const flags = args.filter((arg) => arg.startsWith('-'))
  const unknown = flags.find((flag) => flag !== '--soak' && flag !== '--short')
  if (unknown !== undefined) {
    return { ok: false, message: `Unknown option "${unknown}": known are --soak and --short` }
  }
  const soak = flags.includes('--soak')
  const short = flags.includes('--short')
  if (short && !soak) return { ok: false, message: '--short goes with --soak only' }
  const words = args.filter((arg) => !arg.startsWith('-') && arg !== '')
  return { ok: true, options: { soak, short, words } }
}
