-- Paths and literals of a filter.
--
-- A path names single members and elements, $.a."b c"[0][last], or all of them with [*] and .*. It
-- is translated to strict jsonpath, which does not unwrap arrays. After a wildcard each element
-- gets its own exists(), so that an element without the member does not fail the path:
--
--   $.lines[*].sku == "A"   becomes   exists($."lines"[*] ? (exists(@."sku" ? (@ == "A"))))
--
-- A step never visits the same place of the payload twice. So each step of a path runs at most once
-- for each value in the payload. Only a step after a wildcard runs more than once; weight counts
-- these steps.

create function outbox.filter_literal(
  p_tokens outbox.filter_tokens, p_at integer
) returns outbox.filter_part
language plpgsql stable set search_path = ''
as $$
declare
  v_token text := p_tokens.texts[p_at];
  v_part outbox.filter_part;
begin
  v_part.next := p_at + 1;
  v_part.opening := v_token;
  if v_token = '-' then
    v_part.opening := '-' || coalesce(p_tokens.texts[p_at + 1], '');
    v_part.next := p_at + 2;
  end if;
  if v_token ~ '^"' then
    v_part.opening := outbox.check_filter_text(p_tokens, p_at);
  elsif v_part.opening ~ '^-?[0-9]' then
    if v_part.opening !~ '^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$'
      or pg_catalog.length(v_part.opening) > 40
    then
      perform outbox.refuse_filter(p_tokens.places[p_at],
        pg_catalog.format('%s is not a number that a filter accepts',
          outbox.filter_shown(v_part.opening)),
        'Write a JSON number of up to 40 characters, its exponent from -999 to 999');
    end if;
  elsif v_token in ('$', '@') then
    perform outbox.refuse_filter(p_tokens.places[p_at], 'a path cannot be compared with a path',
      'Compare it with a text, a number, true, false or null, or filter at the receiver');
  elsif v_token is null or v_token not in ('true', 'false', 'null') then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_at),
      pg_catalog.format('expected a literal, not %s', outbox.filter_shown(v_token)),
      'Write a text in double quotes, a number, true, false or null');
  end if;
  return v_part;
end
$$;
comment on function outbox.filter_literal(outbox.filter_tokens, integer) is
  'The literal at that word: a text, a number, true, false or null, as opening. OH001.';

create function outbox.filter_path(
  p_tokens outbox.filter_tokens, p_at integer, p_is_many boolean
) returns outbox.filter_part
language plpgsql stable set search_path = ''
as $$
declare
  v_texts text[] := p_tokens.texts;
  v_part outbox.filter_part;
  v_step text;
  v_length integer;
  v_is_wild boolean;
  v_was_wild boolean := false;
begin
  v_part.opening := 'exists(' || v_texts[p_at];
  v_part.closing := ')';
  v_part.next := p_at + 1;
  v_part.weight := 0;
  v_part.is_many := p_is_many;
  loop
    exit when v_texts[v_part.next] is null or v_texts[v_part.next] not in ('.', '[');
    v_length := case when v_texts[v_part.next] = '.' then 2 else 3 end;
    v_step := case
      when v_length = 2 then outbox.filter_member(p_tokens, v_part.next)
      else outbox.filter_element(p_tokens, v_part.next)
    end;
    v_is_wild := v_step in ('.*', '[*]');
    if v_was_wild then
      v_part.opening := v_part.opening || ' ? (exists(@';
      v_part.closing := '))' || v_part.closing;
    end if;
    v_part.opening := v_part.opening || v_step;
    v_part.is_many := v_part.is_many or v_is_wild;
    v_part.weight := v_part.weight + v_part.is_many::integer;
    v_part.next := v_part.next + v_length;
    v_was_wild := v_is_wild;
    if v_step in ('.size()', '.type()') then
      v_part.next := v_part.next + 2;
      exit;
    end if;
  end loop;
  return v_part;
end
$$;
comment on function outbox.filter_path(outbox.filter_tokens, integer, boolean) is
  'The path that starts at that word with $ or @: opening is "exists(<path>", closing closes it. '
  'p_is_many: its @ can be several values. OH001.';

create function outbox.filter_member(p_tokens outbox.filter_tokens, p_at integer) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_name text := p_tokens.texts[p_at + 1];
  v_place integer := outbox.filter_place(p_tokens, p_at + 1);
begin
  if v_name = '*' then
    return '.*';
  elsif v_name = '**' then
    perform outbox.refuse_filter(v_place, '.** is not part of the language',
      'Name each member of the path, or use [*] or .* for each level');
  elsif v_name ~ '^"' then
    return '.' || outbox.check_filter_text(p_tokens, p_at + 1);
  elsif v_name is null or v_name !~ '^[A-Za-z_]' then
    perform outbox.refuse_filter(v_place,
      pg_catalog.format('expected the name of a member after the dot, not %s',
        outbox.filter_shown(v_name)),
      'Write $.name, or $."any name" in double quotes');
  elsif p_tokens.texts[p_at + 2] = '(' then
    if v_name in ('size', 'type') and p_tokens.texts[p_at + 3] = ')' then
      return pg_catalog.format('.%s()', v_name);
    end if;
    perform outbox.refuse_filter(v_place,
      pg_catalog.format('.%s() is not part of the language', outbox.filter_shown(v_name)),
      'Use .size() or .type() at the end of a path, or compare the value itself');
  end if;
  return pg_catalog.format('."%s"', v_name);
end
$$;
comment on function outbox.filter_member(outbox.filter_tokens, integer) is
  'The step at that word, which is a dot, translated to jsonpath: a member, .*, .size() or '
  '.type(). OH001.';

create function outbox.filter_element(p_tokens outbox.filter_tokens, p_at integer) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_index text := p_tokens.texts[p_at + 1];
begin
  if v_index is null or not (v_index in ('*', 'last') or v_index ~ '^(0|[1-9][0-9]{0,5})$')
    or p_tokens.texts[p_at + 2] is distinct from ']'
  then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_at + 1),
      'expected one element between the brackets',
      'Write [*] for all elements, [0] to [999999] or [last] for one; for a member write $.name');
  end if;
  return pg_catalog.format('[%s]', v_index);
end
$$;
comment on function outbox.filter_element(outbox.filter_tokens, integer) is
  'The step at that word, which is a bracket, translated to jsonpath: [*], [last] or [<index>]. '
  'OH001.';
