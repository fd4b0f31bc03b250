-- Modules: api, sagas, inbox, watch, brokers, messages
-- What becomes of each table, and of each column of a table that moves, if an organisation moves. A person wrote these
-- lists: a new table or column fails the test until somebody decides.
begin;
set local search_path = public, extensions;
select plan(5);

create temporary table decided as
select d.fate, t.name
from (values
  ('a part', 'org_setting event_catalogue event_type endpoint event lane dead_letter idempotency_key'),
  ('with a part', 'endpoint_secret subscription gate delivery'),
  -- Nothing of an open delivery is in them when the source has settled.
  ('is settled', 'unrouted waiting_part unroutable ended_subscription limit_turn event_bytes org_move refusal endpoint_refusal lane_refusal
    isolation'),
  ('stays as history', 'attempt audit_event audit_count event_type_change delivered_mark replay_job counter counter_change consumer_inbox'),
  ('stays with the API', 'portal_token_count portal_generation revoked_portal_token request_key request_bucket'),
  ('prevents it', 'activity consent deleted_channel inbound_message message_channel opt_out outbound_message person
    person_identifier reply_word saga_key template whatsapp_channel whatsapp_update'),
  -- Their rows belong to a channel, a person or a message, which prevents it.
  ('goes with what prevents it', 'message_attempt channel_hold template_hold conversation_window early_report callback_count'),
  ('is of the project', 'binding binding_change binding_refusal backfill_source channel_kind cleanup_progress cleanup_step
    contract_refusal endpoint_kind error_hint failure_rule installed_module move_part notice_rule partition_check ring router
    routing_timeout run run_batch saga saga_step setting setting_rule tick_step upkeep_refusal waiting_kind whatsapp_app')
) d (fate, names)
cross join lateral regexp_split_to_table(btrim(d.names), '\s+') t (name);

create temporary table stored as
select c.relname::text as name from pg_class c
where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition;

select is((select string_agg(s.name, ' ' order by s.name) from stored s where s.name not in (select d.name from decided d)), null, 'no table is without a decision');
select is((select string_agg(d.name, ' ' order by d.name) from decided d where d.name not in (select s.name from stored s)), null, 'no decision is without a table');
select is((select string_agg(d.name, ' ') from (select name from decided group by name having count(*) > 1) d), null, 'each has one');
select is(
  (select string_agg(d.name, ' ' order by d.name) from decided d
    join pg_attribute a on a.attrelid = ('outbox.' || d.name)::regclass and a.attname = 'org_id' and not a.attisdropped
    where (d.fate = 'prevents it') = (d.name in (select p.name from outbox.move_part p))),
  null, 'a table with org_id prevents the move unless move_part has it');

-- The columns of the tables that move. Those in parentheses are not in the pages: the target makes its own values.
select set_eq($$
  select c.relname::text || ': ' || string_agg(a.attname, ' ' order by a.attname collate "C")
  from decided d
  join pg_class c on c.oid = ('outbox.' || d.name)::regclass
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where d.fate in ('a part', 'with a part')
  group by c.relname$$,
  $$select w.name || ': ' || (select string_agg(c, ' ' order by c collate "C") from regexp_split_to_table(translate(w.columns, '()', ''), '\s+') c)
  from (values
    ('org_setting', '(org_id) name value updated_at'),
    ('event_catalogue', '(org_id) strict version changes'),
    ('event_type', '(org_id) type description schema created_at updated_at'),
    ('endpoint', 'id (org_id) kind url description (header_names headers_vault_id) payload timeout_ms ordering max_in_flight quantum rate_per_second
      rate_burst lane_spacing_ms retry retry_4xx on_dead_letter breaker_enabled breaker_threshold breaker_open_ms status status_reason
      (ramp_from) version created_at (updated_at credentials_vault_id) config (is_purged)'),
    ('endpoint_secret', 'id (endpoint_id vault_id scheme public_key) created_at expires_at'),
    ('subscription', '(org_id) pattern (endpoint_id filter) created_at filter_text (filter_weight)'),
    ('gate', '(id endpoint_id changed_at next_at lanes_from in_flight depth) not_before (last_timed_out tokens tokens_at breaker) streak
      first_failure_at (open_until probe_event probe_attempt ramp_from isolated_at org_id) secret_id'),
    ('event', 'id (org_id) type body partition_key correlation_id idempotency_key traceparent endpoint_id deliver_at created_at'),
    ('delivery', '(event_id) endpoint_id (lane_id) due_at (leased_until) attempt failed_attempts (body_bytes) replayed_at deliver_at lost_leases
      lost_before secret_id rejected_secrets'),
    ('lane', '(id gate_id) ordered key_hash (changed_at next_at) not_before (head_at tail_at leased leased_until) halted (depth isolated)'),
    ('dead_letter', 'id event_id endpoint_id (org_id) original_topic original_message error retry_count failed_at correlation_id
      attempt partition_key idempotency_key traceparent event_created_at why replayed_at delivered_at discarded_at note at_broker'),
    ('idempotency_key', '(org_id) key event_id content created_at')
  ) w (name, columns)$$, 'each column of a table that moves is known');

select * from finish();
rollback;
