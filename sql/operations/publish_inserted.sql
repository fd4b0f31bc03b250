-- An insert into a view of operations/outbox_views publishes. No value is ignored: a column that
-- Outhook sets itself may only have the value that a new row has, such as retry_count 0, and any
-- other value is refused.

create function outbox.most_attempts(p_endpoint_id uuid) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce((
    select coalesce(
      (coalesce(e.retry, outbox.retry_preset(e.kind)) ->> 'max_retries')::integer, 5) + 1
    from outbox.endpoint e where e.id = p_endpoint_id), 6);
end
$$;
comment on function outbox.most_attempts(uuid) is
  'How many attempts a delivery to an endpoint gets; the default for null.';

create function outbox.check_inserted(p_view text, p_row jsonb) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_column text;
  v_value text;
  v_new text;
begin
  for v_column, v_value in
    select c.key, c.value from pg_catalog.jsonb_each_text(p_row) c
    where c.value is not null and c.key <> all (array['event_type', 'next_retry_at', 'endpoint_id',
      'partition_key', 'correlation_id', 'saga_id'])
    order by c.key
  loop
    v_new := case v_column
      when 'status' then case p_view when 'transaction_outbox' then 'pending' else 'PENDING' end
      when 'retry_count' then '0'
      when 'last_error' then ''
      when 'max_retries' then outbox.most_attempts((p_row ->> 'endpoint_id')::uuid)::text
    end;
    if v_value is distinct from v_new then
      perform outbox.invalid(v_column, pg_catalog.format('is %L', v_value), case
        when v_new is null then 'Outhook sets it: leave the column out'
        when v_new = '' then 'A new row has none: leave the column out'
        else pg_catalog.format('A new row has %L: insert that, or leave the column out', v_new)
      end);
    end if;
  end loop;
end
$$;
comment on function outbox.check_inserted(text, jsonb) is
  'Raises OH001 if a row that is inserted into a view has a value that Outhook would not store: a '
  'column that Outhook sets itself may only have the value of a new row. p_row: the row without '
  'its payload.';

create function outbox.publish_inserted() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  v_body text := new.payload::text;
  v_row jsonb;
  v_id uuid;
  v_at timestamptz;
  v_created_at timestamptz;
begin
  -- The payload is not part of v_row, because jsonb would change its text.
  new.payload := null;
  v_row := pg_catalog.to_jsonb(new);
  perform outbox.check_inserted(tg_table_name, v_row);
  -- A time that has passed means at once, as in a column with the default now().
  v_at := (v_row ->> 'next_retry_at')::timestamptz;
  -- invalid() names the columns. An exception handler would be a subtransaction for each row.
  perform pg_catalog.set_config('outbox.field_names', 'type=event_type,deliver_at=next_retry_at'
    || case when v_row ? 'saga_id' then ',correlation_id=saga_id' else '' end, true);
  v_id := outbox.publish_raw(v_row ->> 'event_type', v_body,
    p_partition_key => v_row ->> 'partition_key',
    p_correlation_id => coalesce(v_row ->> 'correlation_id', v_row ->> 'saga_id'),
    p_endpoint_id => (v_row ->> 'endpoint_id')::uuid,
    p_deliver_at => case when v_at > outbox.clock() then v_at end);
  perform pg_catalog.set_config('outbox.field_names', '', true);
  select e.created_at, coalesce(e.deliver_at, e.created_at) into v_created_at, v_at
  from outbox.event e where e.id = v_id;
  new := pg_catalog.jsonb_populate_record(new, pg_catalog.jsonb_build_object(
    'id', v_id, 'event_id', v_id,
    'status', case tg_table_name when 'transaction_outbox' then 'pending' else 'PENDING' end,
    'retry_count', 0, 'max_retries', outbox.most_attempts((v_row ->> 'endpoint_id')::uuid),
    'correlation_id', coalesce(v_row ->> 'correlation_id', v_id::text),
    'saga_id', coalesce(v_row ->> 'saga_id', v_id::text),
    'last_error', null, 'next_retry_at', v_at, 'created_at', v_created_at));
  new.payload := v_body::json;
  return new;
end
$$;
comment on function outbox.publish_inserted() is
  'Trigger of the views of operations/outbox_views: publishes an inserted row in the organisation '
  'default. next_retry_at: the time of the first attempt, at once if it has passed; endpoint_id: '
  'the only endpoint. OH001, OH002: see publish_raw(); OH001: a column has a value that a new row '
  'cannot have.';

create trigger publish instead of insert on outbox.webhook_outbox
for each row execute function outbox.publish_inserted();
create trigger publish instead of insert on outbox.saga_outbox
for each row execute function outbox.publish_inserted();
create trigger publish instead of insert on outbox.transaction_outbox
for each row execute function outbox.publish_inserted();
