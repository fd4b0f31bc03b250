import { confirm } from '@clack/prompts'
import process from 'node:process'
import type { Client } from '../../client/mod.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook replay`. */
export interface ReplayOptions extends SessionOptions {
  /** All dead letters, instead of one id. */
  all: boolean
  /** Starts the job without a confirmation. */
  yes: boolean
  endpoint?: string
  type?: string
}

/**
 * Replays one delivery (`<event>.<endpoint>`), one dead letter, or by a job all dead letters that fit.
 * Returns the exit code.
 */
export function replay(
  id: string | undefined,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<number> {
  const { all, endpoint, type, json } = options
  if ((id === undefined) !== all || (id !== undefined && (endpoint ?? type) !== undefined)) {
    terminal.printError(
      'Give one id, or --all with --endpoint and --type. Example: outhook replay --all --type order.paid',
    )
    return Promise.resolve(exitCodes.usage)
  }
  return withClient('replay <dead letter id>', options, terminal, async (client) => {
    if (id === undefined) return await replayAll(client, options, terminal)
    // A delivery has no id of its own: it is an event and an endpoint.
    const replayed = id.includes('.')
      ? await client.replayDelivery({ path: { deliveryId: id } })
      : await client.replayDeadLetter({ path: { deadLetterId: id } })
    terminal.print(json ? JSON.stringify(replayed) : `${id} is ${replayed.status}`)
    return exitCodes.done
  })
}

/** Shows how many dead letters fit, and after a confirmation starts the job that replays these. */
async function replayAll(
  client: Client,
  { endpoint, type, yes, json, org }: ReplayOptions,
  { isInteractive, print, printError }: Terminal,
): Promise<number> {
  const selection = {
    ...endpoint === undefined ? {} : { endpointId: endpoint },
    ...type === undefined ? {} : { eventType: type },
  }
  const { total, capped, failedTo } = await client.previewReplayJob({ body: selection })
  const number = `${total}${capped ? ' or more' : ''}`
  // A key has no organisation of its own.
  const isToken = (process.env.OUTHOOK_TOKEN?.trim() ?? '') !== ''
  const place = org === undefined && isToken
    ? 'the organisation of the token'
    : `the organisation ${org ?? 'default'}`
  printError(`Dead letters that fit in ${place}: ${number}`)
  if (!yes) {
    const message = `Send these ${number} dead letters again?`
    if (!isInteractive || json || await confirm({ message }) !== true) {
      printError('Nothing was replayed: confirm it with --yes')
      return exitCodes.undecided
    }
  }
  const job = await client.createReplayJob({ body: { ...selection, failedTo } })
  print(json ? JSON.stringify(job) : `replay job ${job.id} is ${job.status}`)
  return exitCodes.done
}
