-- Who may do what with each object of the schema outbox. A person wrote this table, and a person changes it: no
-- command makes it from the database. Every object stands in exactly one line of it, and what a line does not
-- allow is refused, so an object without a decision fails the test.
--
-- `decide` takes the kind of the objects, the roles with their privileges, the reason, and the objects' names.
-- The owner, postgres, may do everything and stands in no line.
create schema decided;

create table decided.decision (kind text, name text, role text, privilege text, unique (kind, name, role, privilege));
create table decided.object (kind text, name text, primary key (kind, name));

-- p_rights: 'role: privilege privilege; role: …', or 'nobody'. 'all' is every privilege that the kind has.
create function decided.decide(p_kind text, p_rights text, p_why text, p_names text) returns void language plpgsql as $$
declare
  v_names text[] := regexp_split_to_array(btrim(regexp_replace(p_names, '--[^\n]*', '', 'g'), E' \n'), '\s+');
begin
  if p_why = '' then raise exception 'a decision needs its reason'; end if;
  insert into decided.object select p_kind, unnest(v_names);
  insert into decided.decision
  select p_kind, n, btrim(split_part(r, ':', 1)), upper(p)
  from unnest(v_names) n, string_to_table(nullif(p_rights, 'nobody'), ';') r,
    regexp_split_to_table(btrim(split_part(r, ':', 2)), '\s+') p;
end
$$;

do $do$
begin
perform decided.decide('schema', 'service_role: usage', 'The server calls the doors below. Nobody else can name an object.', 'outbox');

-- Tables and views. Only their owner writes: whatever changes goes through a function.
perform decided.decide('relation', 'service_role: select', 'The console kit, the dashboards and the health checks read them.', $$
  -- events and deliveries
  event event_default unrouted waiting_part unroutable delivery attempt attempt_default dead_letter replay_job delivered_mark
  -- endpoints and the engine
  endpoint endpoint_kind subscription ended_subscription gate lane run waiting_kind setting org_setting event_bytes failure_rule error_hint refusal endpoint_refusal lane_refusal upkeep_refusal routing_timeout
  -- sagas and consumers
  saga saga_step consumer_inbox
  -- messages
  channel_kind message_channel outbound_message message_attempt audit_event audit_count activity template consent opt_out conversation_window reply_word
  whatsapp_app whatsapp_channel whatsapp_update person person_identifier inbound_message channel_hold template_hold deleted_channel
  notice_rule callback_count early_report
  -- views
  open_delivery delivery_status endpoint_status queue_health outbound_attempt relay_status
$$);
perform decided.decide('relation', 'service_role: select insert', 'An insert into this view publishes.', 'webhook_outbox saga_outbox transaction_outbox');
perform decided.decide('relation', 'nobody', 'They name secrets, or keep the answers to requests, which may hold one.',
  'endpoint_secret request_key saga_key idempotency_key');
perform decided.decide('relation', 'nobody', 'The engine''s own notes. What they say is read through functions.', $$
  binding binding_change binding_refusal installed_module counter counter_change contract_refusal isolation partition_check cleanup_progress setting_rule request_bucket portal_generation revoked_portal_token portal_token_count limit_turn org_move ring router run_batch event_type event_type_change event_catalogue
$$);
perform decided.decide('relation', 'nobody', 'It names tables of the application. queue_health has its problems.', 'broken_watch backfill_source');
perform decided.decide('relation', 'nobody', 'A row names a function that is called as the owner.', 'tick_step cleanup_step move_part');
perform decided.decide('relation', 'nobody', 'A day of events or of attempts is read through its parent.', 'event_p* attempt_p*');

perform decided.decide('sequence', 'nobody', 'A number is given by an insert, which the owner''s functions make.', $$
  activity_id_seq audit_event_id_seq binding_change_id_seq consent_id_seq event_type_change_id_seq delivered_mark_id_seq gate_id_seq inbound_message_id_seq lane_id_seq
  message_attempt_id_seq outbound_message_id_seq person_id_seq replay_job_id_seq routing_timeout_id_seq whatsapp_update_id_seq
$$);
perform decided.decide('sequence', 'nobody', 'Clocks and counters that no rollback takes back.', $$
  counters_from kicks_by_tick kicks_on_commit kicks_without_run passed_pairs event_clock last_kick last_tick last_tick_second last_work workers_asleep
$$);

perform decided.decide('type', 'public: usage', 'As Postgres makes them. Without the schema nobody can name them.', $$
  claimed claimed_message completed delivery_key due_gate filter filter_part filter_state filter_tokens lane_gain handed
  changed_message news pace pair pairs_apart parcel part question replay_step reported result routing
  kept_event source_row status_change pair_lane moved_delivery opt_out_change unread watched_change person_link linked_identifier sending_check
$$);

-- Functions. A door is SECURITY DEFINER or needs nothing that service_role lacks (grants/callable.test.sql).
perform decided.decide('function', 'service_role: execute', 'Doors of a run: what deliver, whatsapp, metrics and ops-alerts call.', $$
  dispatch apply_callbacks receive_callbacks callback_app get_metrics queue_backlog gate_totals get_health version
  last_tick_at alive_since queue_problems
  take_requests count_requests count_callbacks
$$);
perform decided.decide('function', 'service_role: execute', 'Doors of the application: it publishes, sends and consumes.', $$
  publish publish_raw publish_many publish_once create_message
  define_saga drop_saga execute_saga execute_org_saga begin_saga run_step end_saga
  accept_once check_handler consume report_dead_message take_events
$$);
perform decided.decide('function', 'service_role: execute', 'Doors of the operator: they take an object of any organisation.', $$
  set_setting set_org_setting recent_deliveries
  check_installation list_workers list_runs list_all_dead_letters org_of_event
  create_endpoint create_slack_endpoint set_slack_url create_broker_endpoint set_broker set_headers
  rotate_secret expire_secret read_secret subscribe
  pause_endpoint resume_endpoint disable_endpoint delete_endpoint send_test_event
  schedule_retry retry_now cancel_delivery resume_lane replay replay_many set_replay_job backfill_events discard_dead_letter route_again mark_delivered
  claim_broker_replay record_broker_replay list_consumers
  put_whatsapp_app get_whatsapp_app
$$);
perform decided.decide('function', 'service_role: execute', 'Doors of the API: each takes the organisation and keeps to it.', $$
  -- endpoints
  create_org_endpoint get_org_endpoint list_org_endpoints update_org_endpoint delete_org_endpoint
  pause_org_endpoint resume_org_endpoint test_org_endpoint get_org_test get_org_stats get_org_overview
  get_retry_config set_retry_config preview_retry_config get_org_secret rotate_org_secret expire_org_secret
  record_portal_token revoke_portal_token revoke_portal_tokens list_revoked_portal_tokens
  -- events and deliveries
  publish_events get_event list_events read_catalogue set_catalogue put_event_type get_event_type list_event_types
  delete_event_type list_event_type_changes get_delivery act_on_delivery list_attempts list_org_attempts list_deliveries search_org try_filter list_org_settings list_audit_events
  list_sagas get_saga get_saga_execution
  list_dead_letters group_dead_letters get_dead_letter replay_dead_letter discard_org_dead_letter
  create_replay_job preview_replay_job create_backfill preview_backfill get_replay_job list_replay_jobs change_replay_job
  -- messages
  get_message list_messages count_messages cancel_message resend_message list_activity list_inbound_messages
  put_template list_templates delete_template grant_consent revoke_consent list_consents
  opt_out_recipient opt_in_recipient list_opt_outs change_opt_out get_person part_person put_reply_word list_reply_words
  create_channel get_channel get_channel_access list_channels set_channel_token set_default_channel update_channel resume_channel
  delete_channel
$$);
perform decided.decide('function', 'service_role: execute', 'Rules that read nothing of anybody.', $$
  calculate_delay is_retryable preview_schedule retry_preset uuid_v7_time stored_from
$$);
perform decided.decide('function', 'nobody', 'Triggers. Firing one needs no right; the owner alone makes triggers with them.', $$
  publish_row publish_rows publish_moves name_columns publish_inserted check_setting lock_settings lift_holds keep_endpoint check_graph_url
$$);
perform decided.decide('function', 'nobody', 'What pg_cron, the SQL console and migrations call, as the owner.', $$
  close_new fix_settings tick upkeep cleanup configure decide_copy reload_jobs watch_table unwatch_table
  backfill
$$);
perform decided.decide('function', 'nobody', 'Extension points: the engine calls them, and a module replaces them.', $$
  backfill_rows endpoint_members found_messages more_counters module_counters more_gauges more_problems more_secrets on_claimed on_closed on_dead_letters on_parcel on_purged on_results release_first
  still_held
$$);
perform decided.decide('function', 'nobody', 'Steps of the tick and of the cleanup: tick_step and cleanup_step name them.', $$
  forget_actions forget_upkeep_refusals forget_idempotency_keys forget_dead_letters forget_job_runs forget_lane_refusals forget_lanes forget_default_rows
  forget_replay_jobs note_traffic
  erase_inbound erase_outbound forget_accepted remove_request_keys remove_type_changes remove_revoked_tokens forget_saga_keys forget_updates forget_early_reports apply_callbacks_step note_foreign_kick end_broker_claims abandoned_letters
$$);
perform decided.decide('function', 'nobody', 'Parts of the functions above.', $$
  -- the overview
  due_retries has_health
  -- portal tokens
  portal_generation portal_revocations count_portal_token
  -- requests with a key
  request_content find_response published_before
  -- limits
  check_limit take_limit_turn take_endpoint_turn refuse_for_today most_event_bytes count_event_bytes check_event_bytes
  -- arguments, settings, addresses
  set_text_settings restore_settings
  authority_problem check_choice check_org check_user_org check_range check_url clock host_problem inside_name_problem
  invalid ipv4_number ipv4_of ipv6_of is_base_url is_network is_port_range is_public is_reachable key_window
  port_allowed port_ranges refuse_setting find_setting org_setting_int day_of day_end setting_conflict setting_int setting_on setting_problem setting_value
  -- events
  uuid_v7 uuid_v7_floor
  -- the audit trail
  current_actor token_actor note_move note_action count_action add_to_free_count note_endpoint note_change note_delivery note_setting add_subscriptions change_headers make_due endpoint_secrets org_secret_json
  -- messages: audit, holds, apps, channels, templates
  app_secrets audit audit_message channel_json check_channel count_message fail_message forget_app_secrets store_in_vault
  lock_channel status_may_change add_activity open_window pace_of plain_word save_message check_template_limit template_json
  -- endpoints, subscriptions, secrets
  add_secret check_endpoint check_endpoint_limit check_subscription_limits check_filter_count check_filter_text check_headers check_old_secrets check_overlap check_secret
  check_named_again finish_change url_origin
  check_signing_key check_is_signed disable_endpoints drop_expired_secrets header_problem active_secrets
  signing_secret signing_secrets has_other_secret keep_secrets with_secrets
  -- search
  found_events found_letters messages_of_correlation audit_of_correlation audit_event_json audit_id_after saga_json inbound_json
  lock_endpoint new_secret put_credentials put_headers reserved_headers set_endpoint_status
  end_unreadable_secrets filter_alternatives filter_close filter_condition filter_element filter_leaf
  filter_literal filter_member filter_operand filter_path filter_place filter_shown filter_tokens filter_where
  hold_unreadable missing_in_vault remaining_headers read_filter read_problem refuse_filter release_unreadable
  stored_credentials stored_headers try_read type_patterns vault_text why_unreadable
  check_change_count check_patterns end_subscriptions put_subscriptions subscription_time
  -- gates, lanes, attempts, counters, runs
  add_gate allowed_in_flight attempt_bounds count_up counters_since find_event first_lane_at first_lease_end
  comes_round fold_counters hold_counters is_crowded key_hash latency_bounds lock_gates next_token_at tokens_at park ring_from touch_run worker_facts count_said
  try_lock_gates lock_free_gates turn_ring
  -- what the database refuses
  admit_endpoints complete_apart due_suspect take_others refuse_expiry forget_refusals given_back is_passing lacks_transaction_ids lay_aside leave_lane
  parse_headers create_again_at create_one_waiting create_refused create_waiting waiting_refusals waiting_events_aside fails_call is_timeout is_late_claim may_stay note_refusal read_results record_results refusal_delay refuse_endpoint
  refuse_result renew_apart set_refusing suspect_endpoints unreadable_result
  end_claims end_missing let_pass refuse_claim refuse_rows refused_again_at refused_until rows_to_lease newest_to_lease
  can_lease_one has_unrefused serve_one try_lease
  admit_lanes new_lane_error is_left_out lane_due_at lanes_to_try refuse_lane refuse_lanes stuck_requests try_lane
  -- isolated deliveries
  settings_problem
  is_sent is_unsent kind_problem park_unsent set_run_kinds unsent_kinds
  change_lane claim_for claim_isolated drains due_isolated_gate has_isolated holds_isolated is_isolated_turn isolate
  isolated_after rejoin rejoin_due serve_isolated
  -- contracts and the tick's state
  agreed_contract contract_advice contract_problem contract_text contracts misses_pg_cron record_refused refuse_contract
  tick_problem kick_problem kicks_waiting unreadable_kick_secret
  installed_modules module_versions module_problem record_module check_module missing_indexes is_closed_part same_index build_one_index build_index job_statuses kick_responses test_attempts
  -- the binding to a project
  bind bind_configured binding_problem cancel_open cancel_pending check_binding database_id follow_database
  is_restoring unrestored_table refuse_restoring check_not_restoring kicks_paused note_binding project_name project_to_decide stop_waiting refuse_project route_all server_id stop_problem
  -- publishing
  check_addressed check_event check_json check_type check_unordered current_traceparent
  event_content new_event put_event put_carried_event claim_idempotency_key
  -- messages: consent, people, creation
  channel_names add_message_channel find_channel check_payload audit_refusal change_consent check_dossier check_message check_recipient consents_json hash_key
  hash_person message_hash find_message_by_key person_key stored_person_key publish_message put_message check_sending refusal_text
  number_variants identifier_of user_identifier check_identifier find_person known_person save_person people_with add_people later_number lock_links lock_people
  join_people join_two copy_opt_outs touch_people part_off recipients_json person_json raise_unknown_person lane_keys_of wait_for_person erase_people
  -- batches, sagas, watched tables
  caller_role event_of_json take_event take_new_events raise_unknown_saga publish_array publish_plain step_function
  base_type changed_value check_columns check_tree check_watched column_guard column_value create_watch field_value
  has_root_order is_own_row json_function name_columns_of named_columns paired_rows partition_columns pick_columns
  plain_change plain_type publish_change record_values refuse_old_snapshot text_of text_value unpublish_moved
  warn_of_watch watch_of watch_query watched_name
  check_source estimated_rows row_problem key_parts most_row_bytes lock_source wait_for_row note_skipped ready_source most_rows key_bound key_columns key_order key_text source_table fetch_rows check_lists column_lists watched_type last_key put_row read_source row_event source_query
  source_settings source_watch wanted_keys
  -- retries, failures, brokers
  check_amqp_url check_broker_address check_ca check_credentials check_kafka check_members check_rabbitmq
  check_retry check_template delay_after failure_rule_of put_broker put_slack_url retry_after
  change_broker has_new_address masked_slack_url retry_if_transient
  -- results
  mark_sent_late report_status record_reported apply_delivered apply_results callback_data close_message complete complete_message
  complete_messages close_needless_retries attempt_outcome judge judge_messages record_moves record_failure record_arrivals
  endpoints_to_judge fail_attempt fail_unsent forget_channel apply_late_result
  announce_cleared hold_channels mark_sent resolve_dead_letters throttle_apps undo_attempt
  -- callbacks and leases
  take_waiting_updates apply_statuses apply_updates callback_result callback_time count_changed_messages judge_statuses
  count_updates find_attempt opt_outs_of_responses apply_failure_rules hold_after_failures classify_statuses save_display_numbers
  record_lost_leases lost save_statuses publish_statuses postpone_updates renew_leases record_lost_lease
  save_verdicts throttle_after_failures store_callbacks record_statuses try_apply why_not_account
  -- inbound messages, holds, manual actions
  replied_attempt apply_inbound apply_notices hold_cause channels_of close_delivery save_contact count_ended
  first_retry_at hold_channel hold_template inbound_text lift_expired_holds
  save_opt_outs save_opt_out said_by notice_end notice_reason notice_rule_of wa_id_to_e164 lock_open_delivery publish_inbound new_number update_identifiers links_of_updates is_new_link links_of_responses current_identifiers speaker_of changes_number is_left leave_number keep_report most_early_reports apply_early_reports
  reply_action apply_inbound_message apply_notice apply_preference templates_of opt_out_changes
  -- routing and claiming
  add_apart add_deliveries add_pairs filter_problem evaluate_filters start_attempt lane_quantum claim claimed_before close_pairs count_failure
  cut_batch due_gates each_filter_once question_orgs had_subscribers has_unrouted insert_deliveries is_template_held lock_router current_router
  full_orgs check_token_share filter_steps most_filter_steps count_values estimated_work
  joined next_unrouted note_timeouts park_apart passes_filters read_payload read_unrouted rest_lane route
  route_events route_failed route_one_by_one route_what_fits serve serve_apart shrink_routing sorting_work still_due lease_deliveries
  drop_ended_subscriptions has_new most_failures oldest_unrouted oldest_waiting
  heavy_last serves_first first_ahead org_width is_shared most_width org_pairs_end most_of_org first_waiting read_new read_turn most_passed passes_turn count_passed begin_turn route_waiting in_turn is_for_new late_parts remove_done_parts new_parts oldest_new
  period_of period_end read_above read_late wait_for_turns waiting_events waiting_orgs without_waiting
  start_attempts lanes_of_pairs touched_events unrouted_late why_not_send
  -- dispatch and what it announces
  announce announce_dead build_parcel build_response is_cut postpone_isolated broker_target fill_broker_template dlq_message dropped_events forget_batches forget_runs give_back hand_out
  has_due note_batch publish_dead_letters put_news readable
  retries_at run_settings send_delays with_messages without
  -- the kick, the tick, replay, purge
  remove_endpoint is_quiet restart_open_checks keep_secret kick kick_on_commit may_notify notify_workers fall_asleep stay_awake last_attempt next_letters next_replays purge_deleted epoch_ms event_time latest_event_time
  check_new_job job_shares backfilled_endpoint new_backfill begin_backfill backfill_room body_work body_problem job_filter add_backfilled move_backfill older_transactions wait_for next_backfill check_bound
  deliveries_to_mark mark_endpoint mark_member mark_next mark_one stop_marked work_delivered_mark work_delivered_marks
  work_backfill work_backfills preview_job next_kept has_or_had was_delivered kept_action send_again kept_problem lock_events backfill_kept
  purge_endpoint reopen_delivery replay_lane wake wake_changed wake_missed wake_refused work_replay_jobs
  is_beside add_name work_replay_job replay_one end_replay_jobs purge_rows purge_apart rows_to_purge rest_job lock_deleted fold_rows fold_apart move_back find_attempts refuse_unreadable
  fails_upkeep refuse_upkeep refuse_slow rests admit_upkeep upkeep_problem row_name is_slow_row change_apart change_rows
  -- the move of an organisation, which only the owner of the schema makes
  refuse_moved close_publishing open_publishing keep_moving keep_moved keep_secret_moved move_sentence refuse_change older_sessions
  check_blockers pause_for_move take_move hold_move clear_moved_part has_anything occupied_by follow_target open_pairs is_pair_known open_depth open_event_ids
  read_move_page write_move_page check_move move_reason moved_status
  read_moved_endpoints drop_moved_endpoint put_moved_endpoint write_moved_endpoints read_moved_events arriving_deliveries
  lock_org_gates add_moved_events remove_empty_lanes remove_moved_deliveries write_moved_events read_moved_settings write_moved_settings
  read_moved_lanes write_moved_lanes letter_key read_moved_letters write_moved_letters read_moved_keys write_moved_keys move_blockers
  move_status move_totals begin_receiving begin_leaving check_move_name end_lost_leases settle_move set_move_status close_source leave_source
  open_target unknown_events add_late_events end_moved_events finish_source undo_receiving undo_leaving read_moved_catalogue
  write_moved_catalogue read_moved_types write_moved_types
  arrival_reason arrives_from departure_reason why_endpoint_rests why_endpoint_stays spread_blockers spread_status carried_keys keyless_events hold_events check_spread
  lock_idle_endpoint check_leaves refuse_arrival check_reason send_endpoint receive_endpoint leave_endpoint has_left lock_arrival open_endpoint drop_arrival
  -- views, requests, lists
  begin_request check_page cursor_to_key end_request iso_time key_to_cursor org_endpoint
  read_cursor release_command rewrite_command to_cursor
  -- the API
  broker_of_wire broker_to_wire change_broker_of_wire change_slack_of_wire create_broker_of_wire
  create_slack_of_wire schema_members type_difference record_type_change change_catalogue check_schema_size change_endpoint change_event_types check_delivery
  check_endpoint_change check_is_open create_by_kind dead_letter_json may_have_status delivery_endpoints delivery_json
  endpoint_json event_json event_type_json lock_org_endpoint partition_floor open_audit_list open_event_list open_delivery_list few_open own_open_list waiting_letters open_letter_list open_waiting_list
  org_dead_letter place_between refuse_managed refuse_members replay_job_json retry_config_json retry_of_wire
  retry_to_wire routing_status schedule_json time_span was_rotated
  -- messages of the API, partitions, cleanup, metrics
  add_partition add_partitions free_span take_from_default rows_in_default partition_bound partitions check_channel_change check_message_id counters database_metrics module_gauges held_templates
  drop_partition drop_partitions engine_metrics erase_messages event_metrics expire_deliveries old_deliveries endpoints_to_purge
  expire_delivery gate_metrics is_open_between is_clean_tonight is_event_needed sweep_piece sweep_events stored_since most_attempts check_inserted lock_message message_json parse_message_id opt_out_json
  wal_position wal_bytes databases_bytes slot_wal transaction_id_age connections_used connections_most net_requests
  sent_bytes traffic_month sent_in_month limit_gauges disk_checks dead_row_checks partition_checks snapshot_checks near_limits limit_warnings
  partition_name queue_metrics job_deadline job_names begin_ticks try_tick try_backfill await_tick clean cleanup_next stored close_missing live_runs may_queue_kick
$$);
end
$do$;
