import { confirm } from '@clack/prompts'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectionUrlProblem } from '../../../functions/_shared/database/url.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { connectMove } from './database.ts'
import { closing } from './ending.ts'
import { finishMove, type MoveInput, moveOrg, undoMove, whyNoUndo } from './move.ts'
import { readSides, whyNot } from './sides.ts'

/** The options of `outhook move-org`. */
export interface MoveOrgOptions {
  from: string
  to: string
  /** How long to wait for what is in flight, in seconds. */
  wait: number
  undo: boolean
  finish: boolean
  dryRun: boolean
  yes: boolean
}

/** Moves an organisation from one project to another, and returns the exit code. */
export async function runMoveOrg(
  org: string,
  options: MoveOrgOptions,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<number> {
  const fromUrl = env.OUTHOOK_FROM_DB_URL ?? ''
  const toUrl = env.OUTHOOK_TO_DB_URL ?? ''
  const wrong = wrongOptions(options, fromUrl, toUrl)
  if (wrong !== null) {
    terminal.printError(wrong)
    return exitCodes.usage
  }
  const source = connectMove(fromUrl, 'source', 'move-org')
  const target = connectMove(toUrl, 'target', 'move-org')
  return await closing([source, target], terminal, () =>
    carryOut(
      {
        org,
        source,
        target,
        from: options.from,
        to: options.to,
        run: randomUUID(),
        newId: randomUUID,
        pause: () => sleep(500),
        waitMs: options.wait * 1_000,
        now: () => performance.now(),
        say: (text) => terminal.printError(text),
      },
      options,
      terminal,
    ))
}

function wrongOptions(
  { from, to, undo, finish }: MoveOrgOptions,
  fromUrl: string,
  toUrl: string,
): string | null {
  if (undo && finish) return '--undo and --finish are opposites: give one of them'
  for (const [option, name] of [['--from', from], ['--to', to]]) {
    if (!/^[\x21-\x7e]{1,100}$/.test(name ?? '')) {
      return `${option} is not 1 to 100 visible ASCII characters: give the name that publishers know`
    }
  }
  if (from === to) return '--from and --to are the same'
  for (const [name, url] of [['OUTHOOK_FROM_DB_URL', fromUrl], ['OUTHOOK_TO_DB_URL', toUrl]]) {
    const problem = url === '' ? 'is not set' : connectionUrlProblem(url ?? '')
    if (problem !== null) return `${name} ${problem}`
  }
  return fromUrl === toUrl ? 'OUTHOOK_FROM_DB_URL and OUTHOOK_TO_DB_URL are the same' : null
}

async function carryOut(
  input: MoveInput,
  { undo, finish, dryRun, yes }: MoveOrgOptions,
  { isInteractive, print, printError }: Terminal,
): Promise<number> {
  const sides = await readSides(input)
  const reasons = undo ? whyNoUndo(sides, input) : whyNot(sides, input)
  const { endpoints, open, dead_letters } = sides.source.totals
  print(
    `${input.org} in ${input.from} (${sides.source.status ?? 'no move'}): ` +
      `endpoints ${endpoints}, open deliveries ${open}, dead letters ${dead_letters}\n` +
      `${input.org} in ${input.to} (${sides.target.status ?? 'no move'}): ` +
      `endpoints ${sides.target.totals.endpoints}`,
  )
  if (reasons.length > 0) {
    printError(reasons.join('\n'))
    return exitCodes.failed
  }
  if (dryRun) return exitCodes.done
  if (!yes) {
    const message = undo ? 'Undo the move?' : finish ? 'Move it, and end the move?' : 'Move it?'
    if (!isInteractive || await confirm({ message }) !== true) {
      printError('Nothing was changed: confirm it with --yes')
      return exitCodes.undecided
    }
  }
  if (undo) await undoMove(input)
  else {
    await moveOrg(input)
    if (finish) await finishMove(input)
  }
  return exitCodes.done
}
