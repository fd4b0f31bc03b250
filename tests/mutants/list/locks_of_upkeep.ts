import type { Mutant } from '../mutant.ts'

/** Locks of settings, of the database that runs know, and of upkeep. */
export const locksOfUpkeep: readonly Mutant[] = [
  {
    file: 'sql/foundation/setting_check.sql',
    find: `  perform pg_catalog.pg_advisory_xact_lock('outbox.setting'::regclass::oid::bigint);
`,
    replace: '',
    tests: ["concurrency/settings.test.ts#waits for another's change of a setting"],
    why: 'Two changes of settings, each valid beside the old value of the other, are both taken.',
  },
  {
    file: 'sql/foundation/setting_check.sql',
    find: `create trigger setting_is_changed_by_one
  before insert or update on outbox.setting
  for each statement execute function outbox.lock_settings();
`,
    replace: '',
    tests: ["concurrency/settings.test.ts#waits for another's change of a setting"],
    why: 'A change of one setting does not wait for a change of another, and both are taken.',
    sql: 'drop trigger setting_is_changed_by_one on outbox.setting;',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: '    select l.only_row from outbox.binding l for update skip locked);',
    replace: '    select l.only_row from outbox.binding l for update);',
    tests: ['concurrency/copies.test.ts#one records it, and no worker waits'],
    why: 'A worker waits for another one that records the name of its project.',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: '      where v_project = any (l.project || l.also || l.beside) for update skip locked);',
    replace: '      where v_project = any (l.project || l.also || l.beside) for update);',
    tests: ['concurrency/copies.test.ts#of two runs that find a new database one records it'],
    why: 'A run that finds a new name of its database waits for the run that records it.',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: '    where l.database = p_binding.database for update skip locked);',
    replace: '    where l.database = p_binding.database for update);',
    tests: ['concurrency/copies.test.ts#of two runs that find a new database one records it'],
    why: 'A run that finds its database restored waits for the run that records it.',
  },
  {
    file: 'sql/operations/decide_copy.sql',
    find: `  perform pg_catalog.pg_advisory_xact_lock('outbox.binding'::regclass::oid::bigint);
`,
    replace: '',
    tests: ['concurrency/copies.test.ts#decide_copy() waits for a call of a run'],
    why: 'A run is handed deliveries of a copy after the decision that stops it.',
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `      perform outbox.lock_gates(array(
        select distinct p.endpoint_id from pg_catalog.unnest(v_batch.pairs) p));`,
    replace: '      null;',
    tests: [
      'concurrency/copies.test.ts#cancel_pending() waits for a gate that another session holds',
    ],
    why: 'cancel_pending() routes events into lanes that another session is changing.',
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: '    perform outbox.lock_gates(v_endpoints);',
    replace: '    null;',
    tests: [
      'concurrency/copies.test.ts#cancel_pending() waits for a gate that another session holds',
    ],
    why: 'cancel_pending() cancels a delivery that a run is just being handed.',
  },
  {
    file: 'sql/time/partition_index.sql',
    find: '  for no key update skip locked;',
    replace: '  for no key update;',
    tests: [
      'concurrency/partition_index.test.ts#a second call builds nothing while the first one builds',
    ],
    why: 'A cleanup by hand waits for the job that builds an index, and then builds it again.',
  },
  {
    file: 'sql/time/partition.sql',
    find:
      "    execute pg_catalog.format('lock table only outbox.%I in share row exclusive mode', p_table);",
    replace: '    null;',
    tests: [
      'concurrency/partitions.test.ts#publish() of a row for DEFAULT, while its day is being made',
    ],
    why: 'An event that is published while its day is being made is refused.',
  },
  {
    file: 'sql/time/partition.sql',
    find: `  execute pg_catalog.format('lock table outbox.%I in share row exclusive mode',
    p_table || '_default');`,
    replace: '  null;',
    tests: [
      'concurrency/partitions.test.ts#add_partition() of a later day waits for a row of that day in DEFAULT',
    ],
    why: 'A partition cannot be made because a row of its day came into DEFAULT meanwhile.',
  },
  {
    file: 'sql/time/drop_partition.sql',
    find:
      "  execute pg_catalog.format('lock table only outbox.%I in access exclusive mode', p_table);",
    replace: '  null;',
    tests: [
      'concurrency/partitions.test.ts#drop_partitions() that waited for a publisher of that day leaves it',
    ],
    why: 'A partition is dropped with an event that was published while the job waited.',
  },
  {
    file: 'sql/time/expire.sql',
    find: '  v_endpoints := outbox.try_lock_gates(array(',
    replace: '  v_endpoints := (array(',
    tests: [
      'concurrency/held_cleanup.test.ts#expire_deliveries() passes over a gate that another session holds',
    ],
    why: 'A delivery expires while a run is being handed it, or the cleanup waits for the run.',
  },
  {
    file: 'sql/messages/person/erase_people.sql',
    find: '      order by p.id limit p_limit for update skip locked),',
    replace: '      order by p.id limit p_limit for update),',
    tests: ['concurrency/people.test.ts#erase_people() passes over a person'],
    why: 'The cleanup waits for whoever holds an erased person.',
  },
]
