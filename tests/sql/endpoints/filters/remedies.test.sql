-- What a person writes from another language is refused with what to write instead.
begin;
\ir ../../_helpers.sql
select plan(13);

create function remedy(p_filter text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform outbox.read_filter(p_filter);
  return 'accepted';
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return sqlerrm || ': ' || v_hint;
end
$$;

select is(remedy(c.filter), c.remedy, c.filter) from (values
  ('$total > 3', 'filter at character 2: total is not part of the language: Write a dot after $: $.total'),
  ('$.a ? (@b == 1)', 'filter at character 9: b is not part of the language: Write a dot after @: @.b'),
  ('$.a and $.b', 'filter at character 5: and is not part of the language: Write && instead of and'),
  ('$.a == 1 AND $.b', 'filter at character 10: AND is not part of the language: Write && instead of and'),
  ('$.a or $.b', 'filter at character 5: or is not part of the language: Write || instead of or'),
  ('$.a == 1 OR $.b', 'filter at character 10: OR is not part of the language: Write || instead of or'),
  ('not $.x', 'filter at character 1: not is not part of the language: Write ! instead: !$.paid, or !($.total > 100)'),
  ('NOT ($.x)', 'filter at character 1: NOT is not part of the language: Write ! instead: !$.paid, or !($.total > 100)'),
  ('$.a ? (not @.b)', 'filter at character 8: not is not part of the language: Write ! instead: !@.paid, or !(@.total > 100)'),
  ('$.a not in ("b")', 'filter at character 5: not is not part of the language: Write ! before the condition: !($.country in ("DE", "FR"))'),
  ('$.a like "b%"', 'filter at character 5: like is not part of the language: Use starts with "abc", or in ("a", "b") for alternatives'),
  ('$.a = 1', 'filter at character 5: = is not part of the language: Write =='),
  ('$.a <> 1', 'filter at character 5: <> is not part of the language: Write !=')) c (filter, remedy);

select * from finish();
rollback;
