-- The condition after a path in a filter. It applies to the value that the path finds, @.

create function outbox.filter_condition(
  p_tokens outbox.filter_tokens, p_at integer
) returns outbox.filter_part
language plpgsql stable set search_path = ''
as $$
declare
  v_token text := p_tokens.texts[p_at];
  v_literal outbox.filter_part;
begin
  if v_token in ('==', '!=', '<', '<=', '>', '>=') then
    v_literal := outbox.filter_literal(p_tokens, p_at + 1);
    if v_token not in ('==', '!=') and v_literal.opening in ('true', 'false', 'null') then
      perform outbox.refuse_filter(p_tokens.places[p_at],
        pg_catalog.format('%s does not order %s', v_token, v_literal.opening),
        'Compare true, false and null with == or !=');
    end if;
    v_literal.opening := pg_catalog.format(' ? (@ %s %s)', v_token, v_literal.opening);
    v_literal.weight := 1;
    return v_literal;
  elsif v_token = 'starts' then
    if p_tokens.texts[p_at + 1] is distinct from 'with' or p_tokens.texts[p_at + 2] !~ '^"'
      or p_tokens.texts[p_at + 2] is null
    then
      perform outbox.refuse_filter(p_tokens.places[p_at], 'expected starts with and a text',
        'Write $.name starts with "abc"');
    end if;
    v_literal.opening := pg_catalog.format(' ? (@ starts with %s)',
      outbox.check_filter_text(p_tokens, p_at + 2));
    v_literal.weight := 1;
    v_literal.next := p_at + 3;
    return v_literal;
  elsif v_token = 'in' then
    return outbox.filter_alternatives(p_tokens, p_at);
  end if;
  v_literal.opening := ' ? (@ != null && (@.type() != "boolean" || @ == true))';
  v_literal.weight := 4;
  v_literal.next := p_at;
  return v_literal;
end
$$;
comment on function outbox.filter_condition(outbox.filter_tokens, integer) is
  'The condition at that word, translated to jsonpath, as opening: a comparison with a literal, '
  'starts with, or in (…). If there is none: that the value is neither false nor null. OH001.';

create function outbox.filter_alternatives(
  p_tokens outbox.filter_tokens, p_at integer
) returns outbox.filter_part
language plpgsql stable set search_path = ''
as $$
declare
  v_list outbox.filter_part;
  v_literal outbox.filter_part;
  v_equal text[] := array[]::text[];
begin
  v_list.next := p_at + 1;
  if p_tokens.texts[v_list.next] is distinct from '(' then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, v_list.next),
      'expected ( after in', 'Write $.country in ("DE", "FR")');
  end if;
  loop
    v_literal := outbox.filter_literal(p_tokens, v_list.next + 1);
    v_equal := v_equal || ('@ == ' || v_literal.opening);
    v_list.next := v_literal.next;
    exit when p_tokens.texts[v_list.next] is distinct from ',';
  end loop;
  if p_tokens.texts[v_list.next] is distinct from ')' then
    perform outbox.refuse_filter(outbox.filter_place(p_tokens, v_list.next),
      pg_catalog.format('expected , or ) in the list, not %s',
        outbox.filter_shown(p_tokens.texts[v_list.next])),
      'Write $.country in ("DE", "FR")');
  end if;
  v_list.opening := pg_catalog.format(' ? (%s)', pg_catalog.array_to_string(v_equal, ' || '));
  v_list.weight := pg_catalog.cardinality(v_equal);
  v_list.next := v_list.next + 1;
  return v_list;
end
$$;
comment on function outbox.filter_alternatives(outbox.filter_tokens, integer) is
  'The list in (…) at that word, translated to jsonpath, as opening; its weight is its length. '
  'OH001.';
