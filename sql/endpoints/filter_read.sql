-- Reads a filter from left to right, with a list of open parentheses instead of recursion.

create function outbox.read_filter(p_filter text) returns outbox.filter
language plpgsql stable set search_path = ''
as $$
declare
  v_most_weight constant integer := 16;
  v_tokens outbox.filter_tokens := outbox.filter_tokens(p_filter);
  v_state outbox.filter_state := row('', 1, true, 0, '$', false, 0, '', '{}', '{}');
  v_filter outbox.filter;
begin
  while v_state.at <= pg_catalog.cardinality(v_tokens.texts) loop
    if v_state.wants_operand then
      v_state := outbox.filter_operand(v_tokens, v_state);
    elsif v_tokens.texts[v_state.at] in ('&&', '||') then
      v_state.written := pg_catalog.format('%s %s ', v_state.written, v_tokens.texts[v_state.at]);
      v_state.at := v_state.at + 1;
      v_state.wants_operand := true;
    else
      v_state := outbox.filter_close(v_tokens, v_state);
    end if;
  end loop;
  if v_state.wants_operand then
    perform outbox.refuse_filter(v_tokens.ends_at, 'expected a condition, not the end',
      'Write something like $.total > 100 or $.country == "DE"');
  elsif pg_catalog.cardinality(v_state.kinds) > 0 then
    perform outbox.refuse_filter(v_tokens.ends_at, 'a parenthesis is not closed',
      'Close it with )');
  elsif v_state.weight > v_most_weight then
    perform outbox.invalid('filter',
      pg_catalog.format('has %s steps for each value of [*] or .*, and at most %s are allowed',
        v_state.weight, v_most_weight),
      'Use fewer steps and alternatives after a wildcard, or filter at the receiver');
  end if;
  begin
    v_filter.path := ('strict ' || v_state.written)::jsonpath;
  exception when syntax_error or invalid_text_representation or untranslatable_character
    or numeric_value_out_of_range
  then
    perform outbox.invalid('filter',
      'has a text or a number that Postgres does not accept: ' || sqlerrm,
      'Write a character beyond \uFFFF as it is, or as a surrogate pair such as \uD83D\uDE00');
  end;
  v_filter.weight := v_state.weight;
  return v_filter;
end
$$;
comment on function outbox.read_filter(text) is
  'Parses a filter and returns it with its weight. OH001 has the position, the problem and the '
  'remedy.';

create function outbox.filter_operand(
  p_tokens outbox.filter_tokens, p_state outbox.filter_state
) returns outbox.filter_state
language plpgsql stable set search_path = ''
as $$
declare
  v_most_depth constant integer := 16;
  v_token text := p_tokens.texts[p_state.at];
  v_place integer := p_tokens.places[p_state.at];
begin
  if v_token in ('!', '(')
    and p_state.negations + pg_catalog.cardinality(p_state.kinds) >= v_most_depth
  then
    perform outbox.refuse_filter(v_place,
      pg_catalog.format('more than %s parentheses and negations', v_most_depth),
      'Use fewer levels; a && b || c needs no parentheses');
  end if;
  case
    when v_token = '!' then
      -- An unknown result counts as false, so that its negation is true.
      p_state.written := pg_catalog.format('%s!exists(%s ? (', p_state.written, p_state.root);
      p_state.pending := p_state.pending || '))';
      p_state.negations := p_state.negations + 1;
      p_state.weight := p_state.weight + p_state.is_many::integer;
      p_state.at := p_state.at + 1;
    when v_token = '(' then
      p_state.written := p_state.written || '(';
      p_state.closings := p_state.closings || (')' || p_state.pending);
      p_state.kinds := p_state.kinds || 'group'::text;
      p_state.pending := '';
      p_state.at := p_state.at + 1;
    when v_token in (p_state.root, 'exists') then
      return outbox.filter_leaf(p_tokens, p_state);
    when v_token in ('$', '@') then
      perform outbox.refuse_filter(v_place,
        pg_catalog.format('a path must start with %s here, not with %s', p_state.root, v_token),
        'Write $ for the payload, and @ inside ? (…) for the value that the path before it finds');
    when v_token in ('strict', 'lax') then
      perform outbox.refuse_filter(v_place, pg_catalog.format('%s is not part of the language',
        v_token), 'Remove it: all paths are strict and find nothing if a member is missing');
    when pg_catalog.lower(v_token) = 'not' then
      perform outbox.refuse_filter(v_place,
        pg_catalog.format('%s is not part of the language', v_token),
        pg_catalog.format('Write ! instead: !%s.paid, or !(%s.total > 100)', p_state.root,
          p_state.root));
    when v_token ~ '^["0-9-]' or v_token in ('true', 'false', 'null') then
      perform outbox.refuse_filter(v_place, 'a condition must start with a path, not a literal',
        'Write the path first: $.total > 100');
    else
      perform outbox.refuse_filter(v_place,
        pg_catalog.format('expected a condition, not %s', outbox.filter_shown(v_token)),
        'Write something like $.total > 100 or $.country == "DE"');
  end case;
  return p_state;
end
$$;
comment on function outbox.filter_operand(outbox.filter_tokens, outbox.filter_state) is
  'Reads the start of an operand: a negation, a parenthesis, or a complete condition. OH001.';

create function outbox.filter_leaf(
  p_tokens outbox.filter_tokens, p_state outbox.filter_state
) returns outbox.filter_state
language plpgsql stable set search_path = ''
as $$
declare
  v_is_exists boolean := p_tokens.texts[p_state.at] = 'exists';
  v_at integer := p_state.at + 2 * v_is_exists::integer;
  v_path outbox.filter_part;
  v_test outbox.filter_part;
begin
  if v_is_exists
    and (p_tokens.texts[v_at - 1] || p_tokens.texts[v_at]) is distinct from '(' || p_state.root
  then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_state.at),
      'expected a path in parentheses after exists',
      pg_catalog.format('Write exists(%s.name)', p_state.root));
  end if;
  v_path := outbox.filter_path(p_tokens, v_at, p_state.is_many);
  p_state.weight := p_state.weight + v_path.weight;
  p_state.written := p_state.written || v_path.opening;
  p_state.at := v_path.next;
  if p_tokens.texts[p_state.at] = '?' then
    return outbox.filter_where(p_tokens, p_state, v_path, v_is_exists);
  end if;
  if v_is_exists then
    if p_tokens.texts[p_state.at] is distinct from ')' then
      perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_state.at),
        pg_catalog.format('expected ) after the path of exists, not %s',
          outbox.filter_shown(p_tokens.texts[p_state.at])),
        'Write only a path in exists(), or a path with ? (…)');
    end if;
    p_state.at := p_state.at + 1;
  else
    v_test := outbox.filter_condition(p_tokens, p_state.at);
    p_state.written := p_state.written || v_test.opening;
    p_state.at := v_test.next;
    if v_path.is_many then
      p_state.weight := p_state.weight + v_test.weight;
    end if;
  end if;
  p_state.written := p_state.written || v_path.closing || p_state.pending;
  p_state.pending := '';
  p_state.wants_operand := false;
  return p_state;
end
$$;
comment on function outbox.filter_leaf(outbox.filter_tokens, outbox.filter_state) is
  'Reads a path with its condition, or exists(). OH001.';

create function outbox.filter_where(
  p_tokens outbox.filter_tokens, p_state outbox.filter_state, p_path outbox.filter_part,
  p_is_exists boolean
) returns outbox.filter_state
language plpgsql stable set search_path = ''
as $$
begin
  if p_state.root = '@' then
    perform outbox.refuse_filter(p_tokens.places[p_state.at], 'a ? (…) inside another',
      'Join the conditions with && in one ? (…)');
  elsif p_tokens.texts[p_state.at + 1] is distinct from '(' then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_state.at + 1),
      'expected ( after ?', 'Write $.lines[*] ? (@.quantity > 2)');
  end if;
  p_state.written := p_state.written || ' ? (';
  p_state.closings := p_state.closings || (')' || p_path.closing || p_state.pending);
  p_state.kinds := p_state.kinds || case when p_is_exists then 'exists' else 'where' end;
  p_state.pending := '';
  p_state.root := '@';
  p_state.is_many := p_path.is_many;
  p_state.at := p_state.at + 2;
  return p_state;
end
$$;
comment on function
  outbox.filter_where(outbox.filter_tokens, outbox.filter_state, outbox.filter_part, boolean) is
  'Reads the start of ? (…) after a path. OH001.';

create function outbox.filter_close(
  p_tokens outbox.filter_tokens, p_state outbox.filter_state
) returns outbox.filter_state
language plpgsql stable set search_path = ''
as $$
declare
  v_open integer := pg_catalog.cardinality(p_state.kinds);
  v_token text := p_tokens.texts[p_state.at];
  v_kind text := p_state.kinds[v_open];
begin
  if v_token <> ')' or v_open = 0 then
    perform outbox.refuse_filter(p_tokens.places[p_state.at],
      case
        when v_token = ')' then 'a closing parenthesis without an opening one'
        when v_token in ('$', '@') then 'a second path without && or ||'
        else pg_catalog.format('%s is not part of the language', outbox.filter_shown(v_token))
      end,
      case pg_catalog.lower(v_token)
        when 'and' then 'Write && instead of and'
        when 'or' then 'Write || instead of or'
        when 'not' then 'Write ! before the condition: !($.country in ("DE", "FR"))'
        when 'like' then 'Use starts with "abc", or in ("a", "b") for alternatives'
        when 'like_regex' then 'Use starts with "abc", or in ("a", "b") for alternatives'
        when 'is' then 'Remove "is unknown": an unknown result counts as false'
        when '-' then 'Put a name with a hyphen in quotes, $."a-b"; there is no arithmetic'
        when '=' then 'Write =='
        when '<>' then 'Write !='
        when '/*' then 'Remove the comment'
        when ')' then 'Remove it'
        else case
          when p_tokens.texts[p_state.at - 1] in ('$', '@') and v_token ~ '^[A-Za-z_]'
          then pg_catalog.format('Write a dot after %s: %s.%s', p_tokens.texts[p_state.at - 1],
            p_tokens.texts[p_state.at - 1], outbox.filter_shown(v_token))
          else
            'Write &&, || or end the filter here; compare a path with a literal by == != < <= > '
            '>=, starts with or in (…); there is no arithmetic'
        end
      end);
  end if;
  p_state.written := p_state.written || p_state.closings[v_open];
  p_state.closings := p_state.closings[1:v_open - 1];
  p_state.kinds := p_state.kinds[1:v_open - 1];
  p_state.at := p_state.at + 1;
  if v_kind = 'exists' then
    if p_tokens.texts[p_state.at] is distinct from ')' then
      perform outbox.refuse_filter(outbox.filter_place(p_tokens, p_state.at),
        'the parenthesis of exists is not closed', 'Close it with )');
    end if;
    p_state.at := p_state.at + 1;
  end if;
  if v_kind in ('where', 'exists') then
    p_state.root := '$';
    p_state.is_many := false;
  end if;
  return p_state;
end
$$;
comment on function outbox.filter_close(outbox.filter_tokens, outbox.filter_state) is
  'Reads a closing parenthesis: after an operand only this, && and || are allowed. OH001.';
