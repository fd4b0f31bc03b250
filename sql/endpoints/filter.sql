-- Filters: the language in which a tenant selects the events of an endpoint. It is a subset of
-- jsonpath. The cost of a filter is known when it is saved:
--
--   condition  = and { "||" and }
--   and        = unary { "&&" unary }
--   unary      = "!" unary | "(" condition ")" | "exists" "(" path [where] ")" | path [test]
--   path       = "$" { "." name | "." text | "[" index "]" | "[" "last" "]" | "[*]" | ".*" }
--                [ ".size()" | ".type()" ]
--   test       = comparison literal | "starts with" text | where
--              | "in" "(" literal { "," literal } ")"
--   where      = "?" "(" condition ")"     in it a path begins with "@", and there is no where
--
-- One evaluation takes at most (the filter's length) + weight x (the values in the payload) steps;
-- filter_path explains why. weight is at most 16. The filter is read from left to right without
-- recursion. The parser of jsonpath gets only the text that this reader writes.

create type outbox.filter_tokens as (
  texts text[],
  places integer[],
  ends_at integer
);
comment on type outbox.filter_tokens is
  'The words of a filter and the position of each, from 1; ends_at: the position after the last '
  'character.';

create type outbox.filter_part as (
  opening text,
  closing text,
  next integer,
  weight integer,
  is_many boolean
);
comment on type outbox.filter_part is
  'A part of a filter, translated to jsonpath. opening, closing: the text before and after its '
  'condition; next: the number of the word after it; weight: how many of its steps run for each '
  'element that a wildcard selects; is_many: whether it can find several values.';

create type outbox.filter as (
  path jsonpath,
  weight integer
);
comment on type outbox.filter is
  'A filter in the form in which it is evaluated, and its weight: the most steps that run for '
  'each value of a payload.';

create type outbox.filter_state as (
  written text,
  at integer,
  wants_operand boolean,
  weight integer,
  root text,
  is_many boolean,
  negations integer,
  pending text,
  closings text[],
  kinds text[]
);
comment on type outbox.filter_state is
  'The state of the reader of a filter. written: the jsonpath so far; at: the number of the next '
  'word; wants_operand: true if a condition must follow, false if an operator may; root: the '
  'first word of a path, $ or @; is_many: @ can be several values; pending: the text that closes '
  'the negations of the next operand; closings, kinds: the closing text and the kind (group, '
  'where or exists) of each open parenthesis.';

-- Words are found in one scan over at most 1,000 characters. Each word keeps its position for
-- errors.

create function outbox.refuse_filter(p_place integer, p_problem text, p_remedy text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  perform outbox.invalid('filter', pg_catalog.format('at character %s: %s', p_place, p_problem),
    p_remedy);
end
$$;
comment on function outbox.refuse_filter(integer, text, text) is
  'Raises OH001 for a filter: message "filter at character <place>: <problem>", hint: the remedy.';

create function outbox.filter_tokens(p_filter text) returns outbox.filter_tokens
language plpgsql stable set search_path = ''
as $$
declare
  v_most constant integer := 1000;
  v_tokens outbox.filter_tokens;
begin
  -- Check bytes first: Postgres knows their number without reading the text.
  if pg_catalog.octet_length(p_filter) > 4 * v_most or pg_catalog.length(p_filter) > v_most then
    perform outbox.invalid('filter',
      pg_catalog.format('has more than %s characters', v_most),
      'Use fewer conditions, in ("a", "b") for alternatives, or filter at the receiver');
  end if;
  select coalesce(pg_catalog.array_agg(w.word order by w.n), '{}'),
    coalesce(pg_catalog.array_agg(w.place order by w.n), '{}')
  into v_tokens.texts, v_tokens.places
  from (
    select m.word[1] as word, m.n,
      (pg_catalog.sum(pg_catalog.length(m.word[1])) over (order by m.n)
        - pg_catalog.length(m.word[1]) + 1)::integer as place
    from pg_catalog.regexp_matches(p_filter,
      '("(?:[^"\\]|\\.)*"|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*'
        || '|\|\||&&|==|!=|<>|<=|>=|\*\*|/\*|[ \t\r\n]+|.)',
      'g') with ordinality as m (word, n)
  ) w
  where w.word !~ '^[ \t\r\n]';
  v_tokens.ends_at := pg_catalog.length(p_filter) + 1;
  return v_tokens;
end
$$;
comment on function outbox.filter_tokens(text) is
  'The words of a filter: texts in quotes, numbers, names, operators, single characters. OH001 '
  'when it has more than 1,000 characters.';

create function outbox.filter_place(p_tokens outbox.filter_tokens, p_at integer) returns integer
language sql immutable set search_path = ''
as $$
  select coalesce(p_tokens.places[p_at], p_tokens.ends_at)
$$;
comment on function outbox.filter_place(outbox.filter_tokens, integer) is
  'The position of the word with that number; after the last word, the position of the end.';

create function outbox.filter_shown(p_token text) returns text
language sql immutable set search_path = ''
as $$
  select case
    when p_token is null then 'the end'
    when pg_catalog.length(p_token) > 40 then pg_catalog.left(p_token, 40) || '…'
    else p_token
  end
$$;
comment on function outbox.filter_shown(text) is
  'A word of a filter for an error message, at most 40 characters.';

create function outbox.check_filter_text(p_tokens outbox.filter_tokens, p_at integer) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_text text := p_tokens.texts[p_at];
begin
  if v_text = '"' then
    perform outbox.refuse_filter(p_tokens.places[p_at], 'the text has no closing quote',
      'Close it with "; write \" for a quote within it');
  end if;
  if v_text !~ '^"([^"\\\u0001-\u001f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"$' then
    perform outbox.refuse_filter(p_tokens.places[p_at],
      'the text has a control character or an invalid escape',
      'Write it as a JSON string: \" \\ \/ \b \f \n \r \t or \u and four hex digits');
  end if;
  if v_text ~ '^"([^\\]|\\[^u]|\\u(?!0000))*\\u0000' then
    perform outbox.refuse_filter(p_tokens.places[p_at], 'the text has the character NUL',
      'Remove \u0000: a payload in Postgres cannot contain it');
  end if;
  return v_text;
end
$$;
comment on function outbox.check_filter_text(outbox.filter_tokens, integer) is
  'The JSON string at that word, with its quotes. OH001 if it is invalid.';
