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
select plan((select 2 * count(*)::integer + 3 + 5 from tried));
select is(refusal(format('select outbox.read_filter(%L)', taken)), 'accepted', what || ' will do') from tried;
select is(refusal(format('select outbox.read_filter(%L)', refused)), 'OH001 filter ' || error, what || ' and no more') from tried;

-- The filters of an endpoint may take 100,000 steps on one payload: here 16 x 6,250 values.
create function answer(p_values integer, p_weights integer[]) returns text language sql as $$
  select outbox.filter_problem(row(gen_random_uuid(), gen_random_uuid(), 1, array_fill('strict exists($ ? (@ == 1))'::jsonpath, array[cardinality(p_weights)]),
    p_weights, 'default')::outbox.question, '1', outbox.filter_steps(p_weights, p_values))
$$;
select is(answer(6250, '{16}'), null, 'the filter is evaluated on a payload of that many values');
select is(answer(6251, '{16}'), 'filter: takes up to 100016 steps for this payload, and at most 100000 are allowed', 'and not on one that has one more');
select is(answer(3126, '{16,16}'), 'filter: takes up to 100032 steps for this payload, and at most 100000 are allowed', 'all filters of an endpoint count');

-- The number of values is never less than it is. Within texts, commas and brackets count too.
select is(outbox.count_values(body), n::bigint, 'values of ' || body)
from (values ('1', 1), ('[]', 2), ('[1, 2, 3]', 4), ('{"a": [1, {"b": 2}], "c": []}', 7), ('"a,b[{"', 4)) v (body, n);

select * from finish();
rollback;
