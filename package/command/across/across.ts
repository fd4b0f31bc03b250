import type { NamedDatabase } from '../../../consumer/into/databases.ts'
import { oneLine } from '../api/table.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { type Answer, askAll } from './ask.ts'
import { type DatabaseOptions, givenDatabases } from './databases.ts'
import { mergeLetters, readLetters, showLetters } from './dead_letters.ts'
import { hasErrors, readHealth, showHealth } from './health.ts'
import { findMatches, findOrg, isEventId, placeMatches, showMatches } from './search.ts'

/** What `outhook across` reads. */
export const questions = ['health', 'dead-letters', 'search'] as const
export type Question = (typeof questions)[number]

/** The options of `outhook across`. */
export interface AcrossOptions extends DatabaseOptions {
  org?: string
  status?: string
  limit: number
  /** The longest time for each database, in seconds. */
  timeout: number
  json: boolean
}

/** What it needs of the outside. */
export interface AcrossDeps {
  /** The version of this command. */
  version: string
  env: Readonly<Record<string, string | undefined>>
  readFile(path: string): Promise<string>
  terminal: Terminal
}

/** What was read, as text and as JSON. */
type Read = { answers: readonly Answer<unknown>[]; text: string; json: object; code: number }

/** Reads something of several databases, prints it, and returns the exit code. */
export async function across(
  question: Question,
  text: string | undefined,
  options: AcrossOptions,
  { version, env, readFile, terminal }: AcrossDeps,
): Promise<number> {
  const { print, printError } = terminal
  const databases = await givenDatabases(options, env, readFile)
  const wrong = typeof databases === 'string' ? databases : wrongUsage(question, text, options)
  if (typeof databases === 'string' || wrong !== null) {
    printError(String(wrong))
    return exitCodes.usage
  }
  const read = question === 'health'
    ? await readAllHealth(databases, options, version)
    : question === 'dead-letters'
    ? await readAllLetters(databases, options)
    : await searchAll(databases, text ?? '', options)
  const asked = read.answers.map((one) => ({
    name: one.name,
    problem: one.ok ? null : one.problem,
  }))
  print(options.json ? JSON.stringify({ ...read.json, databases: asked }, null, 2) : read.text)
  const silent = asked.filter(({ problem }) => problem !== null)
  for (const { name, problem } of silent) {
    printError(`${name} did not answer: ${oneLine(problem ?? '')}`)
  }
  return silent.length > 0 ? exitCodes.failed : read.code
}

function wrongUsage(
  question: Question,
  text: string | undefined,
  { org, status }: AcrossOptions,
): string | null {
  if (question !== 'search') {
    if (text !== undefined) return `${question} takes no text: only search does`
    return question === 'health' && (org ?? status) !== undefined
      ? 'health takes neither --org nor --status'
      : null
  }
  if (text === undefined || text === '') {
    return 'search takes the id of an event, a correlation id or an idempotency key'
  }
  if (status !== undefined) return 'search does not take --status'
  return org === undefined && !isEventId(text)
    ? 'Add --org: a correlation id or an idempotency key is that of an organisation'
    : null
}

async function readAllHealth(
  databases: readonly NamedDatabase[],
  { timeout }: AcrossOptions,
  version: string,
): Promise<Read> {
  const answers = await askAll(databases, timeout * 1_000, (one) => readHealth(one, version))
  const health = answers.flatMap((one) => one.ok ? [{ database: one.name, ...one.value }] : [])
  const code = health.some(hasErrors) ? exitCodes.findings : exitCodes.done
  return { answers, text: showHealth(answers), json: { health }, code }
}

async function readAllLetters(
  databases: readonly NamedDatabase[],
  options: AcrossOptions,
): Promise<Read> {
  const { limit, timeout } = options
  const answers = await askAll(databases, timeout * 1_000, (one) => readLetters(one, options))
  const { letters, hasMore } = mergeLetters(answers, limit)
  const more = hasMore ? `\nThere are more than these ${letters.length}: add --limit` : ''
  const text = letters.length === 0 ? 'There are none' : showLetters(letters) + more
  return { answers, text, json: { deadLetters: letters, hasMore }, code: exitCodes.done }
}

/**
 * An id is looked up first. Whoever has the event names its organisation, and in the other databases the id may be
 * the idempotency key of the event that was carried there.
 */
async function searchAll(
  databases: readonly NamedDatabase[],
  text: string,
  { org, limit, timeout }: AcrossOptions,
): Promise<Read> {
  const timeoutMs = timeout * 1_000
  const owners = org === undefined
    ? await askAll(databases, timeoutMs, (one) => findOrg(one, text))
    : []
  const orgs = org === undefined
    ? [...new Set(owners.flatMap((one) => one.ok && one.value !== null ? [one.value] : []))]
    : [org]
  // Who was silent once is not waited for again.
  const silent = owners.flatMap((one) => one.ok ? [] : [one])
  const others = databases.filter(({ name }) => !silent.some((one) => one.name === name))
  const search = { text, orgs, limit: Math.min(limit, 100) }
  const answers = [
    ...await askAll(others, timeoutMs, (one) => findMatches(one, search)),
    ...silent,
  ]
  const matches = placeMatches(answers)
  const none = org === undefined
    ? 'No database has an event with this id. Add --org to search for a correlation id or an ' +
      'idempotency key'
    : 'There are none'
  const shown = matches.length === 0 ? none : showMatches(matches)
  return { answers, text: shown, json: { matches }, code: exitCodes.done }
}
