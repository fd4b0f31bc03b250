-- The share of an endpoint in claims: maxInFlight and quantum. A token may raise it only up to a
-- setting, because a larger share takes the turns of others. A secret key has no such limit.

create function outbox.check_token_share(
  p_org_id text, p_change jsonb, p_before outbox.endpoint
) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_owner constant text := 'an endpoint that a token changes';
  v_in_flight integer := (p_change ->> 'maxInFlight')::integer;
  v_quantum integer := (p_change ->> 'quantum')::integer;
begin
  if v_in_flight > coalesce(p_before.max_in_flight, 0) then
    perform outbox.check_limit(p_org_id, 'limit.token_share', v_in_flight, v_owner,
      'requests in flight', 'Set a smaller maxInFlight, use a secret key');
  end if;
  if v_quantum > coalesce(p_before.quantum, 0) then
    perform outbox.check_limit(p_org_id, 'limit.token_share', v_quantum, v_owner,
      'deliveries in one turn', 'Set a smaller quantum, use a secret key');
  end if;
end
$$;
comment on function outbox.check_token_share(text, jsonb, outbox.endpoint) is
  'Raises OH010 if a token raises the share of an endpoint above limit.token_share. p_before: the '
  'endpoint as it is, nulls if it is new.';
