import type { Postgres } from '../../supabase/local/postgres/mod.ts'

/**
 * Settings that a user's session, role or database may have, and that must change nothing: each
 * profile is a group of them.
 */
export const sessionProfiles = {
  /** A zone of 45 minutes, with daylight saving time. */
  TimeZone: { timezone: 'Pacific/Chatham' },
  DateStyle: { datestyle: 'SQL, DMY' },
  IntervalStyle: { intervalstyle: 'sql_standard' },
  bytes: { bytea_output: 'escape', xmlbinary: 'hex', xmloption: 'document' },
  floats: { extra_float_digits: '-15' },
  strings: {
    quote_all_identifiers: 'on',
    transform_null_equals: 'on',
  },
  locale: { lc_monetary: 'C.utf8', lc_numeric: 'C.utf8', lc_time: 'C.utf8' },
  'repeatable read': { default_transaction_isolation: 'repeatable read' },
  serializable: { default_transaction_isolation: 'serializable' },
  names: { search_path: 'public', row_security: 'off', check_function_bodies: 'off' },
  plans: {
    jit: 'on',
    jit_above_cost: '0',
    plan_cache_mode: 'force_custom_plan',
    enable_hashjoin: 'off',
    enable_indexonlyscan: 'off',
    geqo_threshold: '2',
    join_collapse_limit: '1',
  },
  timeouts: {
    statement_timeout: '20s',
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: '30s',
    client_min_messages: 'error',
  },
} as const satisfies Record<string, Record<string, string>>

export type SessionProfile = keyof typeof sessionProfiles

/** Profiles that change how a value becomes text, and can be tested together. */
export const textProfiles: readonly SessionProfile[] = [
  'TimeZone',
  'DateStyle',
  'IntervalStyle',
  'bytes',
  'floats',
  'strings',
  'locale',
]

/** Groups that together have every profile; those of a group contradict each other nowhere. */
export const profileGroups: readonly (readonly SessionProfile[])[] = [
  textProfiles,
  ['repeatable read', 'names'],
  ['serializable', 'plans', 'timeouts'],
]

/**
 * Files whose own statements depend on the settings: they compare a text that the test makes of a
 * row, a time, an interval or a number, or call an internal function without its entry point.
 */
export const readsSettings: readonly string[] = [
  'tests/sql/endpoints/create_endpoint/stored.test.sql',
  'tests/sql/endpoints/rotate_secret/overlap.test.sql',
  'tests/sql/endpoints/rotate_secret/schemes.test.sql',
  'tests/sql/engine/complete/lost_lease.test.sql',
  'tests/sql/engine/complete/outcomes.test.sql',
  'tests/sql/engine/complete/retries.test.sql',
  'tests/sql/engine/route/targets.test.sql',
  'tests/sql/events/publish/stored.test.sql',
  'tests/sql/events/publish_many/stored.test.sql',
  'tests/sql/limits/values.test.sql',
  'tests/sql/messages/message/lifecycle.test.sql',
  'tests/sql/messages/plans/callbacks.test.sql',
  'tests/sql/messages/update_channel/changes.test.sql',
  'tests/sql/operations/recent_deliveries/rows.test.sql',
  'tests/sql/operations/replay/cases.test.sql',
  'tests/sql/operations/schedule_retry/cases.test.sql',
  'tests/sql/operations/views/history.test.sql',
  'tests/sql/time/partitions/ahead.test.sql',
]

/** Gives each later session of the database these settings, whatever its role. */
export async function applySettings(
  pg: Postgres,
  profiles: readonly SessionProfile[],
): Promise<void> {
  const statements = profiles.flatMap((profile) => Object.entries(sessionProfiles[profile]))
    .map(([name, value]) => `alter database postgres set ${name} = '${value}';`)
  const { code, stderr } = await pg.psql(statements.join('\n'))
  if (code !== 0) throw new Error(`cannot change the settings: ${stderr}`)
}

/** The profiles that a comma-separated list names. */
export function readProfiles(list = ''): SessionProfile[] {
  return list.split(',').filter((name) => name !== '').map((name) => {
    if (!Object.hasOwn(sessionProfiles, name)) throw new Error(`unknown profile "${name}"`)
    // SAFETY: it is a key of sessionProfiles.
    return name as SessionProfile
  })
}
