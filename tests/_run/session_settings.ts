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
    transform_null_equals: 'on',
  },
  locale: { lc_monetary: 'C.utf8', lc_numeric: 'C.utf8', lc_time: 'C.utf8' },
  'repeatable read': { default_transaction_isolation: 'repeatable read' },
  serializable: { default_transaction_isolation: 'serializable' },
  names: { search_path: 'public', row_security: 'off', check_function_bodies: 'off' },
  plans: {
    plan_cache_mode: 'force_generic_plan',
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

/** Profiles that contradict each other nowhere, and the files whose own statements depend on them. */
export interface ProfileGroup {
  profiles: readonly SessionProfile[]
  without: readonly string[]
}

/** One run of files in databases with these profiles. */
export interface SessionRun {
  profiles: readonly SessionProfile[]
  takes(file: string): boolean
}

/** Groups that together have every profile. */
export const profileGroups: readonly ProfileGroup[] = [
  {
    profiles: textProfiles,
    // They compare a text that the test makes of a row, a time, an interval or a number, count days
    // in the zone of the session, or call an internal function without its entry point.
    without: [
      'tests/sql/endpoints/create_endpoint/stored.test.sql',
      'tests/sql/endpoints/rotate_secret/overlap.test.sql',
      'tests/sql/endpoints/rotate_secret/schemes.test.sql',
      'tests/sql/engine/complete/lost_lease.test.sql',
      'tests/sql/engine/complete/outcomes.test.sql',
      'tests/sql/engine/complete/retries.test.sql',
      'tests/sql/engine/route/targets.test.sql',
      'tests/sql/events/publish/stored.test.sql',
      'tests/sql/events/publish_many/stored.test.sql',
      'tests/sql/limits/times.test.sql',
      'tests/sql/limits/values.test.sql',
      'tests/sql/time/cleanup/expiry.test.sql',
      'tests/sql/time/cleanup/parts.test.sql',
    ],
  },
  {
    profiles: ['repeatable read', 'names'],
    without: [
      // With row_security off, a table with a policy refuses the role that the test takes.
      'tests/sql/rights/tried.test.sql',
      'tests/sql/watch/watch_table/rows.test.sql',
      // They alter a table in the transaction that writes to it.
      'tests/sql/watch/watch_table/followed.test.sql',
      'tests/sql/watch/watch_table/renamed_triggers.test.sql',
    ],
  },
  {
    profiles: ['serializable', 'plans', 'timeouts'],
    without: [
      // It compares what plans read.
      'tests/sql/operations/views/history.test.sql',
      // It sets a statement_timeout of its own.
      'tests/sql/engine/refusals/results.test.sql',
      'tests/sql/watch/watch_table/followed.test.sql',
      'tests/sql/watch/watch_table/renamed_triggers.test.sql',
    ],
  },
]

/** Files that not every group may run. */
const apart = new Set(profileGroups.flatMap(({ without }) => without))

/**
 * The runs with `--all`: all profiles at once for the files that every group runs, and each group by itself for the
 * others. Serializable refuses all that repeatable read refuses, so it stands for both.
 * `--profiles` of `pg_tap.ts` tells which profile makes a file fail. A profile may also hide what another would show,
 * such as a message that is not printed or a plan without the lock; that shows only if its group runs by itself.
 */
export const sessionRuns: readonly SessionRun[] = [
  {
    profiles: profileGroups.flatMap(({ profiles }) => profiles)
      .filter((profile) => profile !== 'repeatable read'),
    takes: (file) => !apart.has(file),
  },
  ...profileGroups.map(({ profiles, without }) => ({
    profiles,
    takes: (file: string) => apart.has(file) && !without.includes(file),
  })),
]

/** The short run: the profiles that decide texts. */
export const textRun: SessionRun = {
  profiles: textProfiles,
  takes: (file) => !(profileGroups[0]?.without ?? []).includes(file),
}

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
