/** The transaction-local settings of a call: caller, request and limits. */
import type postgres from 'postgres'
import type { Caller } from './caller.ts'
import type { CatalogEntry, Routine, RoutineName } from './catalog.ts'

/** Names of the settings that the API role may set; read once per gateway. */
export type UserSettings = () => Promise<Set<string>>

/** Settings of a function that apply to the whole transaction; others apply only inside the function. */
const HOISTED = new Set([
  'statement_timeout',
  'plan_filter.statement_cost_limit',
  'default_transaction_isolation',
])

const SETTINGS_QUERY = `
select name from pg_catalog.pg_settings
where context = 'user'
  or (context = 'superuser' and pg_catalog.has_parameter_privilege(current_user, name, 'set'))`

/** Reads the names at the first call, and again after a failure. */
export function createUserSettings(sql: postgres.Sql): UserSettings {
  let names: Promise<Set<string>> | null = null
  return function userSettings(): Promise<Set<string>> {
    names ??= readNames(sql).catch((error) => {
      names = null
      throw error
    })
    return names
  }
}

async function readNames(sql: postgres.Sql): Promise<Set<string>> {
  const rows = await sql.unsafe<{ name: string }[]>(SETTINGS_QUERY)
  return new Set(rows.map(({ name }) => name))
}

/** The source of a call's settings. */
export interface CallContext {
  /** The header after the replacement of API keys, as SQL sees it in `request.headers`. */
  authorization: string | undefined
  caller: Caller
  catalog: CatalogEntry
  name: RoutineName
  routine: Routine
  userSettings: Set<string>
}

/** The settings of a call, in the order of application. */
export function readSettings(request: Request, context: CallContext): Map<string, string> {
  const { caller, name, routine } = context
  const settings = new Map([
    ['search_path', `"${name.schema.replaceAll('"', '""')}", public, extensions`],
  ])
  for (const [key, value] of parseConfig(context.catalog.roleSettings)) {
    if (context.userSettings.has(key)) settings.set(key, value)
  }
  settings.set('role', caller.role)
  settings.set('request.jwt.claims', JSON.stringify(caller.claims))
  settings.set('request.method', request.method)
  settings.set('request.path', `/rpc/${name.name}`)
  settings.set('request.headers', JSON.stringify(readHeaders(request, context.authorization)))
  settings.set('request.cookies', JSON.stringify(readCookies(request)))
  const timezone = preferredTimezone(request)
  if (timezone !== null) settings.set('timezone', timezone)
  for (const [key, value] of parseConfig(routine.settings)) {
    if (HOISTED.has(key)) settings.set(key, value)
  }
  if (request.method !== 'POST' || !routine.volatile) settings.set('transaction_read_only', 'on')
  return settings
}

/** `ALTER … SET` stores settings as `name=value`. */
function parseConfig(entries: string[]): [string, string][] {
  return entries.map((entry) => {
    const at = entry.indexOf('=')
    return [entry.slice(0, at), entry.slice(at + 1)]
  })
}

function readHeaders(request: Request, authorization?: string): Record<string, string> {
  const headers: Record<string, string> = Object.fromEntries(request.headers)
  delete headers.cookie
  if (authorization === undefined) delete headers.authorization
  else headers.authorization = authorization
  return headers
}

function readCookies(request: Request): Record<string, string> {
  const pairs = (request.headers.get('cookie') ?? '').split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name !== '')
  return Object.fromEntries(pairs.map(([name, ...value]) => [name, value.join('=')]))
}

function preferredTimezone(request: Request): string | null {
  const prefer = request.headers.get('prefer') ?? ''
  const timezone = /(?:^|,)\s*timezone=([^,\s]+)/.exec(prefer)?.[1]
  if (timezone === undefined) return null
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
    return timezone
  } catch {
    return null
  }
}
