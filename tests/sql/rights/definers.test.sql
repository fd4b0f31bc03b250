-- SECURITY DEFINER functions: why each runs no code of its caller or of another role. Whoever adds one
-- adds it here. Such code can be a type in the temporary schema, a cast, an operator, a polymorphic
-- argument, a trigger, a rule, an index or a default of our tables, or a name that is executed.
begin;
set local search_path = public, extensions;
select plan(9);

create temporary table safe (name name primary key, why text);
create function pg_temp.safe(p_why text, p_names text) returns void language sql as $$
  insert into safe select n, p_why from regexp_split_to_table(p_names, '\s+') n where n <> ''
$$;
select pg_temp.safe('Triggers. They convert values by output functions: column_value(), publish_row().', $$
  publish_row publish_rows publish_moves
$$);
select pg_temp.safe('The trigger of a view of ours, whose columns have types of Postgres.', 'publish_inserted');
select pg_temp.safe('They look up a function by name and do not call it.', 'check_handler define_saga');
select pg_temp.safe('They call functions that a table names, which only the owner of the schema writes: tick_step, cleanup_step, endpoint_kind, channel_kind.', $$
  tick try_tick try_backfill cleanup cleanup_next create_org_endpoint update_org_endpoint create_message
$$);
select pg_temp.safe('They execute statements with names of our own partitions.', 'add_partitions drop_partitions');
select pg_temp.safe('It reads the clock and a setting.', 'stored_from');
select pg_temp.safe('They give change_rows() a constant statement for a table of ours.', 'drop_ended_subscriptions erase_messages');
select pg_temp.safe('They call functions of pg_cron, pg_net and Vault, which a superuser owns.', 'reload_jobs configure kick begin_ticks');
select pg_temp.safe('Values of types of Postgres, and SQL that the function itself has.', $$
  accept_once act_on_delivery alive_since apply_callbacks backfill_events begin_saga calculate_delay callback_app cancel_delivery cancel_message
  change_opt_out change_replay_job check_installation count_callbacks count_messages count_requests create_broker_endpoint create_channel create_endpoint

  claim_broker_replay
  create_backfill create_replay_job create_slack_endpoint decide_copy delete_channel delete_endpoint delete_event_type
  delete_org_endpoint delete_template disable_endpoint discard_dead_letter discard_org_dead_letter dispatch
  drop_saga end_saga expire_deliveries expire_org_secret expire_secret gate_totals get_channel get_channel_access get_dead_letter
  get_delivery get_event get_event_type get_health get_message get_metrics get_org_endpoint get_org_secret
  get_org_overview get_org_stats get_org_test get_person get_replay_job get_retry_config get_saga get_saga_execution get_whatsapp_app grant_consent group_dead_letters is_retryable last_tick_at
  list_activity list_all_dead_letters list_attempts list_audit_events list_channels list_consents list_dead_letters list_deliveries
  list_event_type_changes list_event_types list_events list_inbound_messages list_messages list_opt_outs list_org_attempts list_org_endpoints list_org_settings list_consumers list_sagas list_replay_jobs list_reply_words list_revoked_portal_tokens list_runs
  list_templates list_workers mark_delivered mark_sent_late opt_in_recipient opt_out_recipient org_of_event part_person pause_endpoint pause_org_endpoint
  preview_backfill preview_replay_job preview_retry_config preview_schedule publish publish_events publish_many publish_once publish_raw purge_deleted put_event_type
  put_reply_word put_template put_whatsapp_app queue_backlog queue_problems read_catalogue read_secret
  receive_callbacks recent_deliveries record_broker_replay record_portal_token replay replay_dead_letter replay_many report_dead_message
  resend_message resume_channel resume_endpoint resume_lane resume_org_endpoint retry_now revoke_consent
  revoke_portal_token revoke_portal_tokens
  rotate_org_secret rotate_secret route_again schedule_retry search_org try_filter send_test_event set_broker set_catalogue set_channel_token
  set_default_channel set_headers set_org_setting set_replay_job set_retry_config set_setting set_slack_url subscribe take_events take_requests
  test_org_endpoint tick_problem update_channel
$$);
select set_eq(
  $$select distinct p.proname from pg_proc p where p.pronamespace = 'outbox'::regnamespace and p.prosecdef$$,
  'select name from safe', 'each SECURITY DEFINER function has a reason');
select is_empty($$select p.oid::regprocedure from pg_proc p where p.pronamespace = 'outbox'::regnamespace and not 'search_path=pg_temp' = any (coalesce(p.proconfig, '{}'))$$,
  'each function searches pg_catalog first and the temporary schema last');
select is_empty($$select p.oid::regprocedure, t.typname from pg_proc p cross join unnest(p.proargtypes) a join pg_type t on t.oid = a
  where p.pronamespace = 'outbox'::regnamespace and p.prosecdef and (t.typtype = 'p' or t.typnamespace <> 'pg_catalog'::regnamespace)$$,
  'no argument has a polymorphic type, or a type that can have a cast of a role');
select set_eq($$select p.proname from pg_proc p where p.pronamespace = 'outbox'::regnamespace and p.prosrc ~ '\mexecute\s+(pg_catalog\.|outbox\.|v_|p_)'$$,
  $$values ('add_partition'), ('build_one_index'), ('take_from_default'), ('drop_partition'), ('upkeep'), ('clean'), ('change_apart'), ('sweep_piece'), ('change_endpoint'), ('create_by_kind'), ('check_payload'),
    -- With the rights of the caller, which is the owner, or of the caller of execute_saga() and consume().
    ('close_new'), ('fix_settings'), ('run_step'), ('consume'), ('create_watch'), ('name_columns_of'), ('unwatch_table'),
    ('publish_row'), ('publish_rows'), ('publish_moves'),
    -- With the rights of the owner, who alone may call them: functions that move_part names, and names of our tables.
    ('move_blockers'), ('read_move_page'), ('write_move_page'), ('clear_moved_part'),
    -- Queries of a table of the application, with types of Postgres and output functions alone.
    ('fetch_rows')$$, 'no other function executes a text');
select is_empty($$select t.tgrelid::regclass, t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
  where c.relnamespace = 'outbox'::regnamespace and not t.tgisinternal and p.pronamespace <> 'outbox'::regnamespace$$, 'no table has a trigger of another schema');
select is_empty($$select r.ev_class::regclass, r.rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class
  where c.relnamespace = 'outbox'::regnamespace and r.rulename <> '_RETURN'$$, 'nor a rule');
select is_empty($$select d.objid, d.refobjid::regprocedure from pg_depend d join pg_proc p on p.oid = d.refobjid
  where d.refclassid = 'pg_proc'::regclass and d.classid in ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_class'::regclass)
  and p.pronamespace not in ('outbox'::regnamespace, 'pg_catalog'::regnamespace)
  and d.objid in (select c.oid from pg_class c where c.relnamespace = 'outbox'::regnamespace
    union all select a.oid from pg_attrdef a join pg_class c on c.oid = a.adrelid where c.relnamespace = 'outbox'::regnamespace
    union all select k.oid from pg_constraint k where k.connamespace = 'outbox'::regnamespace)$$, 'nor a function of another schema in a default, check or index');
select is_empty($$select c.castsource::regtype, c.casttarget::regtype from pg_cast c join pg_type t on t.oid in (c.castsource, c.casttarget)
  where t.typnamespace = 'outbox'::regnamespace union all
  select o.oprleft::regtype, o.oprright::regtype from pg_operator o where o.oprnamespace = 'outbox'::regnamespace$$, 'the schema has no cast and no operator');

-- The attack on the functions that a key can call. The Vault of the local stack runs as another role.
create role caller;
grant caller to postgres;
grant service_role to caller;
grant usage on schema extensions to caller;
set local role caller;
create temporary table stolen (who name);
grant insert on stolen to public;
do $$
declare
  v_type text;
begin
  foreach v_type in array '{text,jsonb,json,uuid,oid,name,timestamptz,regclass,regtype,bytea,int8}'::text[] loop
    execute format('create function pg_temp.steal(pg_catalog.%1$I) returns boolean language plpgsql as '
      '$f$ begin insert into pg_temp.stolen values (current_user); return true; end $f$', v_type);
    execute format('create domain pg_temp.%1$I as pg_catalog.%1$I check (pg_temp.steal(value))', v_type);
  end loop;
  perform outbox.publish('a', '{"a": 1}'), outbox.publish_many('[{"type": "a", "payload": {}}]'),
    outbox.create_endpoint('https://example.com/hook', '{a}'), outbox.preview_schedule('{"strategy": "fixed", "base_delay": 1}');
end
$$;
reset role;
select is((select count(*) from stolen where who = 'postgres'), 0::bigint, 'a type in the temporary schema of the caller does not replace one of Postgres');

select * from finish();
rollback;
