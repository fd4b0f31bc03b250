import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { checkSql } from '../_lint/sql_rules.ts'
import { listFiles } from '../_run/files.ts'

/**
 * Where an error of any kind may be caught: the kick, which must never fail its caller; routing
 * and claiming, whose errors must not undo the results of a dispatch;
 * each step of the tick's upkeep, none of which may cost the kick; a tick, which must not end its job;
 * a step of the cleanup and a day of the partitions, to store its error, and storing this error; a
 * step of a saga, to say which; the problems of a module, which must not hide those of the core;
 * applying callbacks, which stay stored whatever becomes of them.
 */
const keepToThemselves = [
  'upkeep',
  'kick',
  'unreadable_kick_secret',
  'route',
  'dispatch',
  'run_step',
  'execute_org_saga',
  'try_apply',
  'try_backfill',
  'try_tick',
  'build_index',
  'clean',
  'add_partitions',
  'drop_partitions',
  'refuse_upkeep',
  'queue_problems',
  'module_gauges',
  'counters',
  'limit_gauges',
  'limit_warnings',
]

/** A handler that isolates the bad member of a batch raises a temporary error again, or leaves it. */
const tellApart = [
  'add_apart',
  'admit_upkeep',
  'apply_callbacks',
  'apply_early_reports',
  'body_problem',
  'can_lease_one',
  'change_apart',
  'claim',
  'complete_apart',
  'count_failure',
  'create_one_waiting',
  'end_claims',
  'end_missing',
  'end_replay_jobs',
  'expire_deliveries',
  'filter_problem',
  'find_attempts',
  'fold_apart',
  'fold_counters',
  'follow_database',
  'forget_batches',
  'give_back',
  'hand_out',
  'hash_key',
  'let_pass',
  'lift_expired_holds',
  'move_back',
  'new_lane_error',
  'note_batch',
  'park_apart',
  'park_unsent',
  'purge_apart',
  'purge_deleted',
  'put_row',
  'read_payload',
  'read_problem',
  'read_results',
  'readable',
  'refuse_claim',
  'refuse_endpoint',
  'refuse_expiry',
  'refuse_lane',
  'refuse_lanes',
  'refuse_result',
  'refuse_rows',
  'renew_apart',
  'replay_one',
  'route_failed',
  'route_one_by_one',
  'serve_one',
  'start_attempts',
  'stored_person_key',
  'suspect_endpoints',
  'try_read',
  'wake',
  'work_backfill',
  'mark_one',
  'work_delivered_marks',
  'work_replay_job',
  'work_replay_jobs',
]

const mayCatchOthers = [...keepToThemselves, ...tellApart]

for (const path of await listFiles(projectRoot, 'sql', '.sql')) {
  const allowed = mayCatchOthers
  Deno.test(`${path} keeps the rules for SQL`, async () => {
    const text = await Deno.readTextFile(join(projectRoot, path))
    expect(checkSql(text, { mayCatchOthers: allowed })).toEqual([])
  })
}

Deno.test('every function that may catch every error is there and does', async () => {
  const texts = await Promise.all(
    (await listFiles(projectRoot, 'sql', '.sql')).map((path) =>
      Deno.readTextFile(join(projectRoot, path))
    ),
  )
  const found = texts.flatMap((text) => checkSql(text, { mayCatchOthers: [] })).join('\n')
  expect(mayCatchOthers.filter((name) => !found.includes(`when others in ${name},`))).toEqual([])
})

Deno.test('a handler that isolates a bad member first checks whether the error is temporary', async () => {
  for (const path of await listFiles(projectRoot, 'sql', '.sql')) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    for (
      const [definition, name = ''] of text.matchAll(/^create function outbox\.(\w+)[^]*?^\$\$;/gm)
    ) {
      if (!tellApart.includes(name)) continue
      const handlers = definition.split(
        /exception when (?:query_canceled or )?(?:assert_failure or )?others then/,
      ).slice(
        1,
      )
      const heedless = handlers.filter((body) =>
        !/^\s*(--[^\n]*\s*)*if (not )?outbox\.(is_passing|fails_call|fails_upkeep|is_timeout)\(sqlstate\)/
          .test(
            body,
          )
      )
      expect({ path, name, heedless }).toEqual({ path, name, heedless: [] })
    }
  }
})

const breaches: [what: string, sql: string, breach: string][] = [
  ['an update of all rows', 'update t set a = 1;', 'line 1: update without where'],
  ['a delete of all rows', 'select 1;\ndelete from t;', 'line 2: delete without where'],
  [
    'a where that belongs to a subquery',
    'update t set a = (select b from u where c);',
    'line 1: update without where',
  ],
  [
    'an update in a with clause',
    'with x as (update t set a = 1 returning a) select a from x where a > 0;',
    'line 1: update without where',
  ],
  ['an upper-case keyword', 'SELECT 1;', 'line 1: SELECT is not lower case'],
  [
    'a catch-all in a function',
    'create function outbox.take() as $$ begin exception when others then end $$;',
    'line 1: when others in take, which may not catch every error',
  ],
  [
    'a catch-all behind another condition',
    'create function outbox.take() as $$ begin exception when assert_failure or others then end $$;',
    'line 1: when others in take, which may not catch every error',
  ],
  [
    'a catch-all that an assertion of a trigger passes',
    'create function outbox.kick() as $$ begin exception when query_canceled or others then end $$;',
    'line 1: others in kick does not catch assert_failure',
  ],
  [
    'a catch-all in a block after an allowed function',
    'create function outbox.kick() as $$ begin end $$; do $$ begin exception when others then end $$',
    'line 1: when others in (do block), which may not catch every error',
  ],
  [
    'a serialization failure',
    `raise exception using errcode = '40001';`,
    'line 1: SQLSTATE 40001 makes PostgREST repeat the call',
  ],
  [
    'a literal without a cast',
    `declare\n  v_first constant uuid := '00000000-0000-0000-0000-000000000000';`,
    'line 2: a literal without a cast to the type of its variable',
  ],
  [
    'a line of 101 characters',
    `select 1;\n-- ${'…'.repeat(98)}`,
    'line 2: 101 characters, more than 100',
  ],
]

for (const [what, sql, breach] of breaches) {
  Deno.test(`checkSql() finds ${what}`, () => {
    expect(checkSql(sql, { mayCatchOthers: ['kick'] })).toEqual([breach])
  })
}

const lawful: [what: string, sql: string][] = [
  ['an update with where', 'update t set a = (select 1) where b;'],
  ['a locking clause', 'select a from t for update; select a from t for no key update;'],
  ['an upsert', 'insert into t values (1) on conflict (a) do update set a = 1;'],
  [
    'a foreign key action',
    'create table t (a int references u on delete cascade on update cascade);',
  ],
  ['a trigger', 'create trigger x before insert or update or delete on t execute function f();'],
  ['a grant', 'grant select, update on t to service_role; grant update on t to service_role;'],
  ['words in comments and strings', `-- UPDATE t\n/* DELETE */ select 'UPDATE t', e'\\'DELETE';`],
  ['a literal with a cast', `declare\n  v_all jsonb := '{}'::jsonb;\n  v_name text := 'a';`],
  ['a line of 100 characters', `-- ${'…'.repeat(97)}`],
  [
    'an allowed catch-all',
    'create function outbox.kick() as $$ begin exception when others then end $$;',
  ],
]

for (const [what, sql] of lawful) {
  Deno.test(`checkSql() passes ${what}`, () => {
    expect(checkSql(sql, { mayCatchOthers: ['kick'] })).toEqual([])
  })
}
