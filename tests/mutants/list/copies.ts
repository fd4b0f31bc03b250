import type { Mutant } from '../mutant.ts'

export const copies: readonly Mutant[] = [
  {
    file: 'sql/engine/run/binding.sql',
    find: `    return outbox.refuse_project(p_run, p_kind, 'another_project', v_project, p_now);
`,
    replace: `    return null;
`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `A copy delivers what is pending in production.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  if p_says ? 'kick' and p_says ->> 'kick' <> outbox.server_id() then`,
    replace: '  if false then',
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `The kicks of a copy start runs of the original.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `      when p_binding.database <> v_database
`,
    replace: `      when p_binding.database = v_database
`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `Older functions stop during an upgrade.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `    perform outbox.follow_database(p_binding, v_database, p_now);
`,
    replace: `    null;
`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `After an upgrade, the outbox stays bound to the old database.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  if p_binding.named_by = 'configure' and p_binding.database = v_database then`,
    replace: `  if p_binding.named_by = 'configure' then`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `A copy that was configured and never ran belongs to any project.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  perform outbox.count_up('runs', array[p_kind, p_reason]);
`,
    replace: ``,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `Refused runs do not show in the metrics.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `      and r.at between p_now - interval '1 s' and p_now
`,
    replace: `      and false
`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `Refused runs wait for each other at one row.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `    and not exists (select from outbox.run r where r.polled_at > v_binding.stopped_at)
`,
    replace: ``,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `An original is reported as stopped because a wrong name was refused once.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `      where r.kind = 'edge' and r.at <= p_now + interval '10 s'
        and r.at > p_now
`,
    replace: `      where r.at <= p_now + interval '10 s'
        and r.at > p_now
`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `A worker with a wrong name stops the kicks of production.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `interval '1 hour' else interval '30 s' end`,
    replace: `interval '30 s' else interval '30 s' end`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `A copy that stays stopped sends kicks for ever.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  delete from outbox.binding_refusal r where r.kind = 'edge';
`,
    replace: ``,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `The right URL takes effect only after 30 s.`,
  },
  {
    file: 'sql/engine/run/kick.sql',
    find: ` or outbox.kicks_paused(v_now) then`,
    replace: ` then`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `A copy sends a kick each second to a function that refuses it.`,
  },
  {
    file: 'sql/engine/run/project_name.sql',
    find: `'\\.?(:(80|443))?$'`,
    replace: `'$'`,
    tests: ['sql/engine/binding/names.test.sql'],
    why: `A run with the default port in its URL is another project.`,
  },
  {
    file: 'sql/operations/decide_copy.sql',
    find: `    delete from outbox.binding_refusal r where r.kind in ('edge', 'worker');
`,
    replace: ``,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `After a decision, health still reports the copy.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `  v_more := not outbox.route_all(p_now, p_until);
`,
    replace: `  v_more := false;
`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `What was published before a takeover is delivered after it.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `    where j.status in ('running', 'paused')
    returning`,
    replace: `    where false
    returning`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `A replay job of production continues in the copy.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `breaker = case when g.breaker = 'half_open' then 'open' else g.breaker end,
    probe_event = null, probe_attempt = null
`,
    replace: `breaker = g.breaker
`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `A breaker waits for the result of a cancelled probe.`,
  },
  {
    file: 'sql/time/foreign_kick.sql',
    find: `    and pg_catalog.strpos(r.content, outbox.server_id()) > 0)`,
    replace: `    )`,
    tests: ['sql/engine/binding/rules.test.sql'],
    why: `A restart looks like a copy, and kicks stop for 30 s.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find:
      `  if not pg_catalog.pg_try_advisory_xact_lock_shared('outbox.binding'::regclass::oid::bigint) then`,
    replace: `  if false then`,
    tests: ['concurrency/copies.test.ts#decide_copy() waits for a call of a run'],
    why: `A call beside a decision delivers for the project before it.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `    where l.id = p_run and l.ended_at is null for update skip locked);`,
    replace: `    where l.id = p_run and l.ended_at is null for update);`,
    tests: ['concurrency/copies.test.ts#refuse_project() of a run does not wait'],
    why: `A refused call waits for another call of its run.`,
  },
  {
    file: 'functions/deliver/turn.ts',
    find: `state.seq === 1 && deps.kick`,
    replace: `deps.kick`,
    tests: ['functions/deliver/run_project.test.ts'],
    why: `After a switch to a standby in the middle of a run, its kick looks foreign.`,
  },
  {
    file: 'functions/deliver/app.ts',
    find: `    if (refusal?.code !== 'foreign_kick') status`,
    replace: `    status`,
    tests: ['functions/deliver/app.test.ts'],
    why: `The health of production reports a copy.`,
  },
  {
    file: 'functions/deliver/env.ts',
    find: `  if (ref !== null && named !== null && ref !== named) {`,
    replace: `  if (ref === named) {`,
    tests: ['functions/deliver/env.test.ts'],
    why: `A worker with the database of staging and the name of production delivers.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `        and outbox.agreed_contract(nullif(r.speaks, '{}')) is null);
end
$$;
comment on function outbox.kicks_paused`,
    replace: `        and false);
end
$$;
comment on function outbox.kicks_paused`,
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: `The tick kicks each second while the versions do not match.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `        and outbox.agreed_contract(nullif(r.speaks, '{}')) is null);
end
$$;
comment on function outbox.kicks_paused`,
    replace: `        );
end
$$;
comment on function outbox.kicks_paused`,
    tests: ['sql/engine/dispatch/contract.test.sql'],
    why: `After the update, deliveries wait for 30 s.`,
  },
  {
    file: 'sql/operations/decide_copy.sql',
    find: `  elsif not coalesce((v_cancelled ->> 'more')::boolean, false) then`,
    replace: `  else`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `A copy delivers what the first call had no time to cancel.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `      v_more := v_count > 0 and pg_catalog.clock_timestamp() >= p_until;`,
    replace: `      v_more := false;`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `The cancelling of many endpoints runs into statement_timeout, and nothing is cancelled.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `    if pg_catalog.clock_timestamp() >= p_until then`,
    replace: `    if false then`,
    tests: ['sql/operations/decide_copy/decisions.test.sql'],
    why: `The routing of a large backlog runs into statement_timeout, and nothing is cancelled.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `    and not (p_project ~ v_ref and p_binding.project ~ v_ref)
`,
    replace: '',
    tests: ['sql/engine/binding/further_names.test.sql'],
    why: 'A worker of another project on Supabase delivers beside the functions.',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `          pg_catalog.pg_postmaster_start_time()));`,
    replace: `          '-infinity'));`,
    tests: ['sql/engine/binding/further_names.test.sql'],
    why: 'A copy of the files of a server takes the runs of the original for its own.',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: ` and p_binding.database = v_database)
  then`,
    replace: `)
  then`,
    tests: ['sql/engine/binding/further_names.test.sql'],
    why: 'A name that nobody has confirmed delivers from a restored dump.',
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  perform outbox.check_not_restoring();
`,
    replace: '',
    tests: ['sql/engine/binding/restoring.test.sql'],
    why:
      `A worker writes into a database that is being restored, and takes ids that the backup has.`,
  },
  {
    file: 'sql/engine/run/binding.sql',
    find: `  perform outbox.refuse_restoring(outbox.unrestored_table());
`,
    replace: '',
    tests: ['sql/engine/binding/restoring.test.sql'],
    why: `A worker binds a database whose large tables are still being restored.`,
  },
  {
    file: 'sql/time/drop_partition.sql',
    find: `  perform outbox.refuse_restoring(outbox.unrestored_table());
`,
    replace: '',
    tests: ['sql/engine/binding/restoring.test.sql'],
    why: `A partition whose deliveries are not loaded yet is dropped during a restore.`,
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: `  perform pg_catalog.pg_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint);
`,
    replace: '',
    tests: ['concurrency/copies.test.ts'],
    why: 'cancel_pending() and a tick with replay jobs deadlock.',
  },
  {
    file: 'sql/operations/cancel_pending.sql',
    find: '  perform outbox.stop_waiting();\n',
    replace: '',
    tests: ['sql/operations/decide_copy/waiting.test.sql'],
    why: 'A copy delivers what waited after an error of routing although it was to be cancelled.',
  },
]
