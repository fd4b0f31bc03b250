-- Each bound of the language of filters, on either side of it.
begin;
\ir ../../_helpers.sql
create temporary table tried (what text, taken text, refused text, error text);
insert into tried values
  ('1,000 characters', format('$.a == "%s"', repeat('x', 991)), format('$.a == "%s"', repeat('x', 992)), 'has more than 1000 characters'),
  ('16 steps for each value', '$[*] in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)', '$[*] in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)',
    'has 17 steps for each value of [*] or .*, and at most 16 are allowed'),
  ('a negation behind a wildcard is a step', '$[*] ? (' || repeat('!', 13) || '(@ == 1))', '$[*] ? (' || repeat('!', 15) || '@)',
    'has 20 steps for each value of [*] or .*, and at most 16 are allowed'),
  ('16 levels', repeat('!', 16) || '$.a', repeat('!', 17) || '$.a', 'at character 17: more than 16 parentheses and negations'),
  ('16 parentheses', repeat('(', 16) || '$.a' || repeat(')', 16), repeat('(', 17) || '$.a' || repeat(')', 17), 'at character 17: more than 16 parentheses and negations'),
  ('an index of six digits', '$[999999]', '$[1000000]', 'at character 3: expected one element between the brackets'),
  ('a number of 40 characters', '$ == 0.' || repeat('1', 38), '$ == 0.' || repeat('1', 39),
    'at character 6: 0.' || repeat('1', 38) || '… is not a number that a filter accepts'),
  ('an exponent of three digits', '$ == 1e999', '$ == 1e1000', 'at character 6: 1e1000 is not a number that a filter accepts');
select plan((select 2 * count(*)::integer + 3 from tried));
select is(refusal(format('select outbox.read_filter(%L)', taken)), 'accepted', what || ' will do') from tried;
select is(refusal(format('select outbox.read_filter(%L)', refused)), 'OH001 filter ' || error, what || ' and no more') from tried;

-- A payload may cost 8,388,608 steps times bytes: here 16 x 524,288.
create function answer(p_bytes integer, p_weights integer[]) returns text language sql as $$
  select outbox.filter_problem(row(gen_random_uuid(), gen_random_uuid(), p_bytes, array_fill('strict exists($ ? (@ == 1))'::jsonpath, array[cardinality(p_weights)]),
    p_weights, 'default')::outbox.question, '1')
$$;
select is(answer(524288, '{16}'), null, 'a payload of that size is asked');
select is(answer(524289, '{16}'), 'filter: 16 steps for each value are too many for a payload of 524289 bytes', 'one that is a byte larger is not');
select is(answer(524288, '{16,16}'), null, 'the same filter of two patterns is asked, and counts, once');

select * from finish();
rollback;
