import type { Mutant } from '../mutant.ts'

export const sagasAndWatch: readonly Mutant[] = [
  {
    file: 'sql/sagas/saga_routes.sql',
    find: '    set constraints all immediate;',
    replace: '    null;',
    tests: ['sql/sagas/execute_saga/deferred.test.sql'],
    why: 'A token receives the text of a deferred trigger of the application.',
  },
  {
    file: 'sql/sagas/saga_routes.sql',
    find: `  perform pg_catalog.set_config('search_path', p_search_path, true);
`,
    replace: '',
    tests: ['sql/sagas/execute_saga/deferred.test.sql'],
    why: 'A deferred trigger that names its tables without a schema fails each saga.',
  },
  {
    file: 'sql/sagas/saga_log.sql',
    find: 'where s.name = p_name and (s.by_tokens or not p_by_token);',
    replace: 'where s.name = p_name;',
    tests: ['sql/sagas/get_saga_execution/log.test.sql'],
    why: 'A token reads the steps of a saga that it may not execute.',
  },
  {
    file: 'sql/sagas/saga_log.sql',
    find: '      and o.partition_key = p_id::text\n',
    replace: '',
    tests: ['sql/sagas/get_saga_execution/log.test.sql'],
    why: 'The log of an execution has events that are no steps.',
  },
  {
    file: 'sql/sagas/saga.sql',
    find:
      `    if not pg_catalog.has_function_privilege(outbox.caller_role(), v_function, 'execute') then`,
    replace: '    if false then',
    tests: ['sql/sagas/define_saga/cases.test.sql', 'sql/sagas/execute_saga/refused.test.sql'],
    why: 'Somebody defines a saga of functions that they may not execute.',
  },
  {
    file: 'sql/sagas/saga.sql',
    find: `  delete from outbox.saga_step s where s.saga = p_name;
`,
    replace: '',
    tests: ['sql/sagas/define_saga/cases.test.sql'],
    why: 'A saga cannot be defined anew.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: `'function', s.function, 'event_type', s.event_type) order by s.position)`,
    replace: `'function', s.function, 'event_type', s.event_type) order by s.position desc)`,
    tests: ['sql/sagas/execute_saga/order.test.sql'],
    why: 'Steps run in another order.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: 'v_context := v_context || v_added;',
    replace: 'v_context := v_added || v_context;',
    tests: ['sql/sagas/execute_saga/order.test.sql'],
    why: 'A step does not see what the one before it changed.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: 'if v_existing.content <> v_content then',
    replace: 'if false then',
    tests: [
      'sql/sagas/execute_saga/failed.test.sql',
      'sql/sagas/execute_saga/order.test.sql',
      'sql/sagas/execute_saga/refused.test.sql',
    ],
    why: 'A key that is used for another saga gives the wrong result.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: '      where k.created_at <= excluded.created_at - outbox.key_window();',
    replace: '      where k.created_at > excluded.created_at - outbox.key_window();',
    tests: [
      'sql/sagas/execute_saga/order.test.sql',
      'sql/sagas/execute_saga/failed.test.sql',
      'sql/sagas/execute_saga/refused.test.sql',
    ],
    why: 'A repeated saga runs again.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: 'when transaction_rollback or insufficient_resources or operator_intervention',
    replace: 'when insufficient_resources or operator_intervention',
    tests: ['sql/sagas/execute_saga/failed.test.sql'],
    why: 'A caller that repeats after a deadlock is not told of one.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: 'or read_only_sql_transaction or object_in_use or lock_not_available',
    replace: 'or read_only_sql_transaction or object_in_use',
    tests: ['sql/sagas/execute_saga/failed.test.sql'],
    why: 'A caller is told not to repeat a saga that waited for a lock.',
  },
  {
    file: 'sql/sagas/saga_routes.sql',
    find: 'when transaction_rollback or insufficient_resources or operator_intervention',
    replace: 'when transaction_rollback or operator_intervention',
    tests: ['sql/sagas/execute_saga/deferred.test.sql'],
    why: 'A full disk at the end of a saga is an error of its steps.',
  },
  {
    file: 'sql/sagas/execute_saga.sql',
    find: `  perform pg_catalog.set_config('outhook.org_id', coalesce(v_org_before, ''), true);
`,
    replace: '',
    tests: ['sql/sagas/execute_saga/order.test.sql'],
    why: 'What follows a saga in its transaction takes over its organisation.',
  },
  {
    file: 'sql/inbox/consume.sql',
    find: `  if not outbox.accept_once(p_consumer, p_event_id) then
    return false;
  end if;
`,
    replace: '',
    tests: ['sql/inbox/consume/cases.test.sql'],
    why: 'A redelivered message is processed twice.',
  },
  {
    file: 'sql/inbox/consume.sql',
    find: `  if p_event_type like 'outhook.%' then
    return;
  end if;
`,
    replace: '',
    tests: ['sql/inbox/consume/cases.test.sql', 'sql/engine/announce/loop_guard.test.sql'],
    why: 'A dead letter of an operational event makes another, without end.',
  },
  {
    file: 'sql/watch/plain_change.sql',
    find: 'v_changed := p_new ->> v_column is distinct from p_old ->> v_column;',
    replace: 'v_changed := coalesce(p_new ->> v_column <> p_old ->> v_column, false);',
    tests: ['sql/watch/watch_table/rows.test.sql'],
    why: 'A change to null of a watched column is not published.',
  },
  {
    file: 'sql/watch/plain_change.sql',
    find: 'outbox.pick_columns(p_old, p_named),',
    replace: 'p_old,',
    tests: ['sql/watch/watch_table/left_out.test.sql'],
    why: 'A column that is left out is published as what it was before.',
  },
  {
    file: 'sql/watch/publish_row.sql',
    find: '        and (a.atttypid >= 16384 or a.atttypid in (790, 791)',
    replace: '        and (a.atttypid in (790, 791)',
    tests: ['sql/watch/watch_table/foreign_code.test.sql'],
    why: "A cast of the table's owner runs with the rights of the schema's owner.",
  },
  {
    file: 'sql/watch/column_value.sql',
    find: `  return pg_catalog.format('%s', p_value);`,
    replace: '  return p_value::text;',
    tests: ['sql/watch/watch_table/foreign_code.test.sql'],
    why: "A cast to text of the table's owner runs with the rights of the schema's owner.",
  },
  {
    file: 'sql/watch/named_column.sql',
    find: 'where a.attrelid = p_table and a.attnum = any (t.tgattr)))',
    replace: 'where a.attrelid = p_table and a.attnum = any (t.tgattr) and not a.atthasdef))',
    tests: ['sql/watch/watch_table/followed.test.sql'],
    why: 'A column that is excluded is published.',
  },
  {
    file: 'sql/watch/publish_row.sql',
    find: `returns trigger
language plpgsql security definer set search_path = ''`,
    replace: `returns trigger
language plpgsql set search_path = ''`,
    tests: ['sql/watch/watch_table/rows.test.sql'],
    why: 'A writer without rights on the outbox cannot write the table.',
  },
  {
    file: 'sql/watch/publish_row.sql',
    find: `    v_settings := outbox.set_text_settings();
`,
    replace: `    v_settings := null;
`,
    tests: ['sql/watch/watch_table/values.test.sql'],
    why: 'The settings of the session determine the payload.',
  },
  {
    file: 'sql/watch/publish_rows.sql',
    find: `        from old_rows o) o using (i);`,
    replace: `        from old_rows o) o on o.i <> n.i;`,
    tests: ['sql/watch/watch_table/statements.test.sql'],
    why: 'The rows before and after an update are of different rows.',
  },
  {
    file: 'sql/watch/publish_moves.sql',
    find: `  delete from outbox.event e where e.id = any (v_events);
`,
    replace: '',
    tests: ['sql/watch/watch_table/partitions.test.sql'],
    why: 'A row that moves to another partition is published three times.',
  },
  {
    file: 'sql/foundation/close_new.sql',
    find:
      `    execute pg_catalog.format('alter routine %s set search_path = pg_temp', v_new.name);`,
    replace: '    null;',
    tests: ['sql/rights/definers.test.sql'],
    sql:
      `alter function outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text) set search_path = '';`,
    why: "A type in the temporary schema of the caller runs code with the schema owner's rights.",
  },
  {
    file: 'sql/watch/watch_table.sql',
    find: `  perform outbox.unwatch_table(p_table);
`,
    replace: '',
    tests: ['sql/watch/watch_table/rows.test.sql'],
    why: 'A table that is watched anew publishes each change twice.',
  },
  {
    file: 'sql/watch/watch_check.sql',
    find: `      and c.relnamespace <> 'outbox'::regnamespace
`,
    replace: '',
    tests: ['sql/watch/watch_table/refused.test.sql'],
    why: 'Watching a table of the outbox makes events without end.',
  },
  {
    file: 'sql/brokers/dead_letter_topic.sql',
    find: `        and x.original_topic <> 'outhook.dead_letter' offset 0`,
    replace: '        offset 0',
    tests: ['sql/brokers/dead_letter_topic/publish_dead_letters.test.sql'],
    why: 'A dead letter that cannot be published makes another, without end.',
  },
  {
    file: 'sql/brokers/dead_letter_topic.sql',
    find: 'v_lane := outbox.replay_lane(v_row.gate_id, 0);',
    replace:
      'v_lane := (select l from outbox.lane l where l.gate_id = v_row.gate_id order by l.ordered desc limit 1);',
    tests: ['sql/brokers/dead_letter_topic/publish_dead_letters.test.sql'],
    why: 'A dead letter waits behind the key that it stopped.',
  },
  {
    file: 'sql/brokers/dead_letter_topic.sql',
    find: `e.kind in ('rabbitmq', 'kafka') and e.status <> 'deleted'`,
    replace: `e.kind in ('rabbitmq', 'kafka')`,
    tests: ['sql/brokers/dead_letter_topic/deleted.test.sql'],
    why: 'A deleted broker endpoint gets dead letters.',
  },
  {
    file: 'sql/brokers/dead_letter_topic.sql',
    find: `when p_endpoint.payload = 'data' then v_data`,
    replace: `when p_endpoint.payload = 'envelope' then v_data`,
    tests: ['sql/brokers/dead_letter_topic/publish_dead_letters.test.sql'],
    why: 'A dead letter holds another message than the one that failed.',
  },
  {
    file: 'sql/watch/named_column.sql',
    find: "on t.tgargs = v_call || pg_catalog.convert_to(l, 'UTF8') || '\\x00'::bytea",
    replace: "on t.tgname = 'outhook_' || l",
    tests: ['sql/watch/watch_table/renamed_triggers.test.sql'],
    why: 'After a rename of two triggers the excluded columns are published.',
  },
  {
    file: 'sql/watch/broken_watch.sql',
    find: `exception when data_exception then
  return null;
`,
    replace: '',
    tests: ['sql/watch/watch_table/hand_made.test.sql'],
    why: 'A trigger that somebody made without watch_table() hides the health of the queue.',
  },
]
