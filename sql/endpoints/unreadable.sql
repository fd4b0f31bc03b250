-- Endpoints with secrets, headers or credentials that cannot be read. The claim pauses such an
-- endpoint, with the reason and the remedy. Setting the secret again resumes it. Other endpoints
-- continue. A replaced secret that cannot be read only expires early.

create function outbox.read_problem(p_vault_id uuid, p_what text) returns text
language plpgsql stable set search_path = ''
as $$
begin
  perform case p_what
    when 'the set of custom headers' then outbox.stored_headers(p_vault_id)::text
    when 'the set of credentials' then outbox.stored_credentials(p_vault_id)::text
    else outbox.vault_text(p_vault_id, p_what)
  end;
  return null;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  return pg_catalog.format('%s cannot be read from Vault (%s %s)', p_what, sqlstate,
    pg_catalog.left(sqlerrm, 200));
end
$$;
comment on function outbox.read_problem(uuid, text) is
  'Why a secret cannot be read from Vault; null if it can.';

create function outbox.end_unreadable_secrets(p_endpoint_id uuid, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.endpoint_secret s set expires_at = p_now
  where s.endpoint_id = p_endpoint_id and s.expires_at > p_now
    and outbox.try_read(s.vault_id) is null;
end
$$;
comment on function outbox.end_unreadable_secrets(uuid, timestamptz) is
  'Expires the replaced secrets of an endpoint that cannot be read, because they cannot sign.';

create function outbox.why_unreadable(p_endpoint_id uuid) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_part record;
  v_problem text;
begin
  for v_part in
    select s.vault_id, case s.scheme
        when 'v1' then 'the signing secret' else 'the ed25519 signing key'
      end as what, case s.scheme
        when 'v1' then 'rotate_secret() creates a new one' else 'rotate_secret() accepts a new one'
      end as remedy
    from outbox.endpoint_secret s where s.endpoint_id = p_endpoint_id and s.expires_at is null
    union all
    select e.headers_vault_id, 'the set of custom headers',
      'set_headers() with all of them sets them again'
    from outbox.endpoint e where e.id = p_endpoint_id and e.headers_vault_id is not null
    union all
    select e.credentials_vault_id, 'the set of credentials',
      coalesce(k.credentials_remedy, 'put_credentials() sets it again')
    from outbox.endpoint e
    join outbox.endpoint_kind k on k.kind = e.kind
    where e.id = p_endpoint_id and e.credentials_vault_id is not null
    union all
    select m.vault_id, m.what, m.remedy from outbox.more_secrets(p_endpoint_id) m
  loop
    v_problem := outbox.read_problem(v_part.vault_id, v_part.what);
    if v_problem is not null then
      return pg_catalog.format('unreadable: %s: outbox.%s', v_problem, v_part.remedy);
    end if;
  end loop;
  return null;
end
$$;
comment on function outbox.why_unreadable(uuid) is
  'The secret of an endpoint that cannot be read, the reason and the remedy, as one text that '
  'starts with "unreadable: "; null if all can be read.';

create function outbox.hold_unreadable(
  p_endpoint_id uuid, p_why text, p_now timestamptz
) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- SKIP LOCKED: a transaction that an operator left open must not block a run.
  perform from outbox.endpoint e
  where e.id = p_endpoint_id and e.status = 'enabled'
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update outbox.endpoint e
  set status = 'paused', status_reason = p_why, version = e.version + 1, updated_at = p_now
  where e.id = p_endpoint_id;
  perform outbox.announce('outhook.endpoint.held', array[p_endpoint_id]);
  return true;
end
$$;
comment on function outbox.hold_unreadable(uuid, text, timestamptz) is
  'Pauses an endpoint with secrets that cannot be read, and publishes outhook.endpoint.held. '
  'False if another transaction has the endpoint locked.';

create function outbox.refuse_unreadable(p_endpoint_id uuid) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- The claim has paused the endpoint because the error stayed, so that it is no temporary one.
  if exists (
    select from outbox.endpoint e
    where e.id = p_endpoint_id and e.status = 'paused' and e.status_reason like 'unreadable: %')
  then
    perform outbox.set_refusing(true);
  end if;
end
$$;
comment on function outbox.refuse_unreadable(uuid) is
  'Lets the rest of the call treat every error of reading the secrets of a paused endpoint as an '
  'unreadable secret, so that the secrets can be set again. release_unreadable() ends it.';

create function outbox.release_unreadable(p_endpoint_id uuid) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_hold text;
  v_why text;
begin
  if not exists (
    select from outbox.endpoint e
    where e.id = p_endpoint_id and e.status = 'paused' and e.status_reason like 'unreadable: %')
  then
    return;
  end if;
  perform outbox.refuse_unreadable(p_endpoint_id);
  v_why := outbox.why_unreadable(p_endpoint_id);
  perform outbox.set_refusing(false);
  if v_why is not null then
    return;
  end if;
  v_hold := outbox.still_held(p_endpoint_id);
  if v_hold is not null then
    update outbox.endpoint e set status_reason = v_hold where e.id = p_endpoint_id;
  else
    perform outbox.set_endpoint_status(p_endpoint_id, 'enabled', null);
    perform outbox.announce('outhook.endpoint.released', array[p_endpoint_id]);
  end if;
end
$$;
comment on function outbox.release_unreadable(uuid) is
  'Resumes an endpoint that was paused because a secret could not be read, if all can be read '
  'now, and publishes outhook.endpoint.released.';
