-- Checks for the settings of both kinds of broker. No error shows credentials.

create function outbox.check_members(
  p_field text, p_value jsonb, p_members text[], p_kind text
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_unknown text;
begin
  if pg_catalog.jsonb_typeof(p_value) is distinct from 'object' then
    perform outbox.invalid(p_field, 'is not an object',
      'Expected members such as ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
  select k into v_unknown from pg_catalog.jsonb_object_keys(p_value) k
  where k <> all (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(p_field || '.' || pg_catalog.left(v_unknown, 60),
      'is not a setting of kind ' || p_kind,
      'Expected ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
end
$$;
comment on function outbox.check_members(text, jsonb, text[], text) is
  'Raises OH001 for the first unknown member of an object.';

create function outbox.check_broker_address(p_field text, p_address text) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_problem text := case
    when p_address is null or p_address !~ '^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$'
    then 'is not host:port'
    else outbox.authority_problem('https://' || p_address)
  end;
begin
  if v_problem is not null then
    perform outbox.invalid(p_field, v_problem, case v_problem
      when 'has a host that is not allowed' then
        'Use a host on the public Internet. To allow a private network, add it to the setting '
        'egress.allow_cidrs'
      when 'has a port that is not allowed' then
        'Use a port that the settings egress.allow_ports and egress.deny_ports allow'
      else 'Expected something like broker.example.com:9092'
    end);
  end if;
end
$$;
comment on function outbox.check_broker_address(text, text) is
  'Raises OH001 unless this is host:port and may be reached. The IP addresses of a name are '
  'checked at each connection.';

create function outbox.check_template(
  p_field text, p_template jsonb, p_names text[], p_characters text
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_text text := p_template #>> '{}';
begin
  if pg_catalog.jsonb_typeof(p_template) is distinct from 'string' or v_text = ''
    or pg_catalog.length(v_text) > 200
    or pg_catalog.regexp_replace(v_text,
      '\{(' || pg_catalog.array_to_string(p_names, '|') || ')\}', '', 'g') !~ p_characters
  then
    perform outbox.invalid(p_field, 'is not 1 to 200 allowed characters',
      pg_catalog.format('Expected letters, digits, . _ - and {%s}, such as shop.{type}',
        pg_catalog.array_to_string(p_names, '}, {')));
  end if;
end
$$;
comment on function outbox.check_template(text, jsonb, text[], text) is
  'Raises OH001 unless a template has only placeholders {…} of p_names, and its other characters '
  'match the pattern p_characters.';

create function outbox.check_ca(p_ca jsonb) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_ca <> 'null' and (
    p_ca #>> '{}' !~ '^\s*-----BEGIN CERTIFICATE-----' or pg_catalog.length(p_ca #>> '{}') > 65536)
  then
    perform outbox.invalid('broker.ca', 'is not a certificate in PEM',
      'Expected the certificate of the authority, not of the broker: -----BEGIN CERTIFICATE-----…');
  end if;
end
$$;
comment on function outbox.check_ca(jsonb) is
  'Raises OH001 unless the certificates to trust instead of the public ones are null or PEM.';

create function outbox.check_credentials(
  p_kind text, p_broker jsonb, p_credentials jsonb
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_needed boolean := p_kind = 'rabbitmq' or p_broker -> 'sasl' <> 'null';
  v_field text;
begin
  if p_credentials is null and not v_needed then
    return;
  elsif p_credentials is null then
    perform outbox.invalid('credentials', 'is missing', 'Expected {"username", "password"}');
  elsif not v_needed then
    perform outbox.invalid('credentials', 'needs broker.sasl',
      'Set broker.sasl to the mechanism: plain, scram-sha-256 or scram-sha-512');
  end if;
  perform outbox.check_members('credentials', p_credentials, array['username', 'password'],
    p_kind);
  foreach v_field in array array['username', 'password'] loop
    if pg_catalog.jsonb_typeof(p_credentials -> v_field) is distinct from 'string'
      or pg_catalog.length(p_credentials ->> v_field) not between 1 and 2048
    then
      perform outbox.invalid('credentials.' || v_field, 'is not a text of 1 to 2048 characters',
        'Expected any characters, not escaped');
    end if;
  end loop;
end
$$;
comment on function outbox.check_credentials(text, jsonb, jsonb) is
  'Raises OH001 unless these credentials are valid for this broker; never shows them.';
