/** What the person asked the runner for. */
export interface Options {
  /** Run the long tests instead of the ordinary ones. */
  soak: boolean
  /** With soak: the shortened form that CI runs. Without it: `all` is false, also if there are words; see runsAll(). */
  short: boolean
  /** Run what stands in `behind_all.ts` too. */
  all: boolean
  /** List the slowest tests and files at the end. */
  slow: boolean
  /** How many failed parts, at most, run once more; see `again.ts`. */
  again: number
  /** Words that select tests by file path or by name; none selects all. */
  words: string[]
  /** The major version of Postgres to test on; null: the one that is installed. */
  postgres: 17 | null
  /** With soak: how long the tests take that can take any time; null: as they choose. */
  minutes: number | null
  /** With soak: the seed of the tests that have one; null: any. */
  seed: number | null
  /** With soak: how many seeds chaos plays, from `seed` on, each for `minutes`; null: one. */
  seeds: number | null
  /** With soak: by how much the simulated days are smaller than 100 million deliveries; null: as they choose. */
  scale: number | null
}

/** What `--help` prints. */
export const help = `Run tests of every kind.

  npx -y deno@2.9.6 task test [--all | --short] [--again N] [--slow] [--postgres 17] [<word>…]
  npx -y deno@2.9.6 task soak [--short] [--slow] [--postgres 17] [--minutes N] [--seed S] [--seeds N]
                                [--scale N] [<word>…]

  <word>         run only what has one of the words in its path or name, or is a step of this name
  --all          run all tests except the soak tests: 25 to 50 minutes on 2 cores, instead of 11 to 20
  --again N      run at most N failed files or groups of files once more, alone; the list at the end names those
                 that pass then; if more failed, none runs again
  --slow         list the slowest tests and files at the end
  --postgres 17  run on PostgreSQL 17, which is installed below .outhook
  --short        with words: leave out what only --all runs, except of a step that a word names
                 soak: the shortened form of CI, its files side by side, in SOAKTIME minutes on 2 cores
  --minutes N    soak: how long chaos and spread take, from 1 to 1440; else 30 and 10, shorter with --short
  --seed S       soak: the seed of chaos, spread and days, a whole number, to repeat a run
  --seeds N      soak: chaos and spread play N seeds from S on, each for that long; 1 to 1000, else 1
  --scale N      soak: days simulates 1/N of 100 million deliveries a day, from 1/20 on; 1000, or 50000 with --short
  --help         show this`

export type ParsedOptions = { ok: true; options: Options } | { ok: false; message: string }

const known = ['--all', '--slow', '--soak', '--short']

/** Read the runner's arguments: `[words…]`, `--postgres 17` and the other options. */
export function parseOptions(given: readonly string[]): ParsedOptions {
  const at = given.indexOf('--postgres')
  const version = at < 0 ? null : given[at + 1]
  if (version !== null && version !== '17') {
    return { ok: false, message: '--postgres takes 17; without it the installed one is tested on' }
  }
  const rest = at < 0 ? given : given.toSpliced(at, 2)
  const atAgain = rest.indexOf('--again')
  const again = atAgain < 0 ? '0' : rest[atAgain + 1] ?? ''
  if (!/^[0-9]$/.test(again)) {
    return { ok: false, message: '--again takes a number from 0 to 9' }
  }
  const withNumbers = atAgain < 0 ? rest : rest.toSpliced(atAgain, 2)
  const minutes = takeNumber(withNumbers, '--minutes', { least: 1, most: 1440 })
  if (!minutes.ok) return minutes
  const seed = takeNumber(minutes.rest, '--seed', { least: 0, most: 2 ** 31 - 1 })
  if (!seed.ok) return seed
  const seeds = takeNumber(seed.rest, '--seeds', { least: 1, most: 1_000 })
  if (!seeds.ok) return seeds
  const scale = takeNumber(seeds.rest, '--scale', { least: 20, most: 1_000_000 })
  if (!scale.ok) return scale
  const args = scale.rest
  const flags = args.filter((arg) => arg.startsWith('-'))
  const unknown = flags.find((flag) => !known.includes(flag))
  if (unknown !== undefined) {
    return {
      ok: false,
      message: `Unknown option "${unknown}": known are ${
        known.join(', ')
      }, --again N, --minutes N, --seed S, --seeds N, --scale N and --postgres 17`,
    }
  }
  const [all, slow, soak, short] = known.map((flag) => flags.includes(flag))
  if (all && short) return { ok: false, message: '--all does not go with --short' }
  if (!soak && (minutes.value ?? seed.value ?? seeds.value ?? scale.value) !== null) {
    return { ok: false, message: '--minutes, --seed, --seeds and --scale go with soak only' }
  }
  if (all && soak) return { ok: false, message: '--all does not go with --soak' }
  const words = args.filter((arg) => !arg.startsWith('-') && arg !== '')
  return {
    ok: true,
    options: {
      soak: soak ?? false,
      short: short ?? false,
      // Who names a test wants it, however long it takes, unless they say otherwise.
      all: (all ?? false) || (words.length > 0 && !short),
      slow: slow ?? false,
      again: Number(again),
      words,
      postgres: version === null ? null : 17,
      minutes: minutes.value,
      seed: seed.value,
      seeds: seeds.value,
      scale: scale.value,
    },
  }
}

type Taken =
  | { ok: true; value: number | null; rest: readonly string[] }
  | { ok: false; message: string }

/** The whole number after an option, and the other arguments. */
function takeNumber(
  args: readonly string[],
  option: string,
  { least, most }: { least: number; most: number },
): Taken {
  const at = args.indexOf(option)
  if (at < 0) return { ok: true, value: null, rest: args }
  const text = args[at + 1] ?? ''
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most) {
    return { ok: false, message: `${option} takes a whole number from ${least} to ${most}` }
  }
  return { ok: true, value, rest: args.toSpliced(at, 2) }
}
