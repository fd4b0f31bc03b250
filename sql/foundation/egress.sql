-- Which URLs deliveries may be sent to. A literal address is checked here, by the same ranges as in
-- functions/_shared/connect/address.ts (tests/sql/same_rules.test.ts compares them). The addresses
-- of a name are checked at each send, when the name is resolved.

create function outbox.is_public(p_address inet) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  if pg_catalog.family(p_address) = 4 then
    return not p_address <<= any (array[
      '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
      '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24',
      '192.168.0.0/16', '192.175.48.0/24',
      '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
      -- Azure's wire server: metadata and DNS of the virtual machine, on a public address.
      '168.63.129.16/32'
    ]::inet[]);
  end if;
  return p_address <<= '2000::/3'
    and not p_address <<= any (
      array['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']::inet[]
    )
    -- ISATAP: an interface identifier of 5efe with or without the universal bit, then the IPv4
    -- address.
    and p_address & '::fdff:ffff:0:0' <> '::5efe:0:0';
end
$$;
comment on function outbox.is_public(inet) is
  'Whether an address is on the public Internet. IPv6 forms that contain an IPv4 address are not.';

create function outbox.is_reachable(p_address inet) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.is_public(p_address) or exists (
    select from pg_catalog.jsonb_array_elements_text(outbox.setting_value('egress.allow_cidrs')) c
    where p_address <<= c.value::inet);
end
$$;
comment on function outbox.is_reachable(inet) is
  'Whether deliveries may go to an address: a public one, or one that egress.allow_cidrs allows.';

create function outbox.ipv4_number(p_part text) returns bigint
language plpgsql immutable set search_path = ''
as $$
declare
  v_base integer := case when p_part like '0x%' then 16 when p_part like '0_%' then 8 else 10 end;
  v_digits text := pg_catalog.ltrim(
    case v_base when 16 then pg_catalog.substr(p_part, 3) else p_part end, '0');
  v_number bigint := 0;
  v_digit integer;
begin
  if pg_catalog.length(v_digits) > 11 then
    return null;
  end if;
  for v_n in 1 .. pg_catalog.length(v_digits) loop
    v_digit := pg_catalog.strpos('0123456789abcdef', pg_catalog.substr(v_digits, v_n, 1)) - 1;
    if v_digit not between 0 and v_base - 1 then
      return null;
    end if;
    v_number := v_number * v_base + v_digit;
  end loop;
  return v_number;
end
$$;
comment on function outbox.ipv4_number(text) is
  'One part of an IPv4 address in a URL (decimal, octal after 0, hexadecimal after 0x); null if it '
  'is none.';

create function outbox.ipv4_of(p_host text) returns inet
language plpgsql immutable set search_path = ''
as $$
declare
  v_parts text[] := pg_catalog.string_to_array(p_host, '.');
  v_count integer := pg_catalog.cardinality(v_parts);
  v_address bigint := 0;
  v_number bigint;
  v_beyond bigint;
begin
  if v_count > 4 then
    return null;
  end if;
  for v_n in 1 .. v_count loop
    v_number := case when v_parts[v_n] <> '' then outbox.ipv4_number(v_parts[v_n]) end;
    -- The last part fills the remaining bytes: 127.1 is 127.0.0.1.
    v_beyond := case when v_n < v_count then 256 else 256::bigint ^ (5 - v_count) end;
    if v_number is null or v_number >= v_beyond then
      return null;
    end if;
    v_address := v_address
      + v_number * case when v_n < v_count then 256::bigint ^ (4 - v_n) else 1 end;
  end loop;
  return '0.0.0.0'::inet + v_address;
end
$$;
comment on function outbox.ipv4_of(text) is
  'The IPv4 address of a URL''s host in any of its forms (127.1, 0x7f.1, 2130706433); null if it '
  'is none.';

create function outbox.ipv6_of(p_host text) returns inet
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_host ~ '^\[[0-9a-f:.]*:[0-9a-f:.]*\]$' then pg_catalog.btrim(p_host, '[]')::inet
  end;
exception when invalid_text_representation then
  return null;
end
$$;
comment on function outbox.ipv6_of(text) is
  'The IPv6 address of a URL''s host in brackets; null if it is not one, or has a zone id.';

-- RFC 6761, 6762, 8375 and ICANN's .internal: names that belong to the local host or network.
create function outbox.inside_name_problem(p_name text) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when p_name ~ '^(.*\.)?(localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)$'
      and not outbox.is_reachable('127.0.0.1') and not outbox.is_reachable('::1')
    then 'has a host that is not allowed'
    when (p_name !~ '\.' or p_name ~ '\.(local|internal|localdomain|home\.arpa)$')
      and outbox.setting_value('egress.allow_cidrs') = '[]'
    then 'has a host that is not allowed'
  end;
end
$$;
comment on function outbox.inside_name_problem(text) is
  'The problem of a local name while local addresses are not allowed; null for all other names.';

create function outbox.host_problem(p_host text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_host text := pg_catalog.lower(pg_catalog.regexp_replace(p_host, '\.$', ''));
  v_address inet;
begin
  if v_host like '[%' then
    v_address := outbox.ipv6_of(v_host);
  -- A host that ends in a number must be an address (URL Standard, "ends in a number").
  elsif v_host ~ '(^|\.)([0-9]+|0x[0-9a-f]*)$' then
    v_address := outbox.ipv4_of(v_host);
  elsif v_host !~ '^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$' or pg_catalog.length(v_host) > 253 then
    return 'has a host that is no name of letters, digits and hyphens';
  else
    return outbox.inside_name_problem(v_host);
  end if;
  return case
    when v_address is null then 'has a host that is no valid address'
    when not outbox.is_reachable(v_address) then 'has a host that is not allowed'
  end;
end
$$;
comment on function outbox.host_problem(text) is
  'What is wrong with a URL''s host, as the end of a sentence; null if it is allowed.';

create function outbox.is_port_range(p_text text) returns boolean
language plpgsql immutable set search_path = ''
as $$
declare
  v_ends text[] := pg_catalog.regexp_match(p_text, '^([0-9]{1,5})(?:-([0-9]{1,5}))?$');
begin
  return v_ends is not null and v_ends[1]::integer between 1 and 65535
    and coalesce(v_ends[2], v_ends[1])::integer between v_ends[1]::integer and 65535;
end
$$;
comment on function outbox.is_port_range(text) is
  'Whether a text is a port such as 443 or a range such as 1024-65535.';

create function outbox.port_ranges(p_ranges jsonb) returns int4multirange
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select coalesce(pg_catalog.range_agg(pg_catalog.int4range(
      pg_catalog.split_part(r, '-', 1)::integer,
      coalesce(nullif(pg_catalog.split_part(r, '-', 2), ''), r)::integer, '[]')), '{}')
    from pg_catalog.jsonb_array_elements_text(p_ranges) r);
end
$$;
comment on function outbox.port_ranges(jsonb) is
  'The ports of a setting such as egress.allow_ports, as one set.';

create function outbox.port_allowed(p_port integer) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce((
    select pg_catalog.bool_and(s.name = 'egress.allow_ports') from outbox.setting s
    cross join pg_catalog.jsonb_array_elements_text(s.value) r
    where s.name in ('egress.allow_ports', 'egress.deny_ports')
      and p_port between pg_catalog.split_part(r.value, '-', 1)::integer
        and coalesce(nullif(pg_catalog.split_part(r.value, '-', 2), ''), r.value)::integer), false);
end
$$;
comment on function outbox.port_allowed(integer) is
  'Whether deliveries may go to a port: in egress.allow_ports and not in egress.deny_ports.';

create function outbox.authority_problem(p_url text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_authority text := (pg_catalog.regexp_match(p_url, '^https?://([^/?#]*)', 'i'))[1];
  v_parts text[] := pg_catalog.regexp_match(v_authority, '^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$');
  v_port text := nullif(v_parts[2], '');
  v_default text := case when p_url ~* '^https' then '443' else '80' end;
begin
  if v_parts is null or pg_catalog.length(v_port) > 5 then
    return 'has a port that is no number from 1 to 65535';
  end if;
  return coalesce(
    outbox.host_problem(v_parts[1]),
    case
      when not outbox.port_allowed(coalesce(v_port, v_default)::integer)
      then 'has a port that is not allowed'
    end);
end
$$;
comment on function outbox.authority_problem(text) is
  'What is wrong with the host or the port of a URL, as the end of a sentence; null if both are '
  'allowed.';

create function outbox.check_url(p_url text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_problem text;
begin
  v_problem := case
    when p_url is null or p_url = '' then 'is empty'
    when pg_catalog.length(p_url) > 2048 then 'is longer than 2048 characters'
    when p_url ~ '[[:space:][:cntrl:]]' then 'holds a space or a control character'
    when p_url !~* '^https?://[^/?#]+' then 'is not an absolute http or https URL'
    when p_url ~* '^https?://[^/?#]*@' then 'carries credentials'
    when p_url ~* '^http://' and not outbox.setting_on('egress.allow_http') then 'is not https'
    else outbox.authority_problem(p_url)
  end;
  if v_problem is not null then
    perform outbox.invalid('url', v_problem, case v_problem
      when 'is not https' then
        'Use https. For local development: '
        'select outbox.set_setting(''egress.allow_http'', ''true'')'
      when 'has a host that is not allowed' then
        'Use a host on the public Internet. A network of one''s own is allowed by the setting '
        'egress.allow_cidrs'
      when 'has a port that is not allowed' then
        'Use 443, or another port that the settings egress.allow_ports and egress.deny_ports allow'
      when 'has a host that is no name of letters, digits and hyphens' then
        'Expected something like https://example.com/webhooks; write an international name in its '
        'xn-- form'
      else 'Expected something like https://example.com/webhooks'
    end);
  end if;
  return p_url;
end
$$;
comment on function outbox.check_url(text) is
  'Returns the URL, or raises OH001. The addresses of a name are checked at each send.';
