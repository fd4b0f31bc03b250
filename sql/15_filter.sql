-- Filters: the language in which a tenant says which events an endpoint wants. It is a part of
-- jsonpath whose cost is known when it is saved:
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
-- One asking of a payload costs at most (the filter's length) + weight x (the values in the
-- payload); see 15_filter_path for why. weight is at most 16. The filter is read from left to right
-- without recursion, and only what was read is handed to the parser of jsonpath.

create type outbox.filter_tokens as (
  texts text[],
  places integer[],
  ends_at integer
);
comment on type outbox.filter_tokens is
  'The words of a filter with the position of each, from 1; ends_at: the position behind the last '
  'character.';

create type outbox.filter_part as (
  opening text,
  closing text,
  next integer,
  weight integer,
  is_many boolean
);
comment on type outbox.filter_part is
  'A part of a filter in jsonpath: what stands before its condition and what closes it; the word '
  'after it; how many of its steps are done for each element behind a wildcard; whether it finds '
  'many.';

create type outbox.filter as (
  path jsonpath,
  weight integer
);
comment on type outbox.filter is
  'A filter as it is evaluated, and its weight: how many steps are done for each value of a '
  'payload at most.';

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
  'A filter half read. written: the jsonpath so far; at: the next word; wants_operand: whether a '
  'condition must follow, or an operator may; root: what a path begins with, $ or @; is_many: '
  '@ stands for many values; pending: what closes the negations of the next operand; '
  'closings and kinds: of the parentheses that are open, group, where or exists.';

-- The words of a filter. A filter is read by one scan over at most 1,000 characters, before
-- anything else looks at it; each word keeps its position, so that a refusal can name it.

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
  -- Bytes first: their number is known without reading them.
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
  'The position of the word with that number; that of the end behind the last one.';

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
  'A word of a filter as an error shows it.';

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
      'the text has a control character or an escape that JSON does not have',
      'Write it as a JSON string: \" \\ \/ \b \f \n \r \t or \u and four hex digits');
  end if;
  if v_text ~ '^"([^\\]|\\[^u]|\\u(?!0000))*\\u0000' then
    perform outbox.refuse_filter(p_tokens.places[p_at], 'the text has the character NUL',
      'Leave \u0000 out: Postgres cannot hold it in a payload either');
  end if;
  return v_text;
end
$$;
comment on function outbox.check_filter_text(outbox.filter_tokens, integer) is
  'The text at that word, in quotes as JSON writes it, or OH001.';
