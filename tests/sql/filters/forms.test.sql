-- A filter is a jsonpath over the payload: a predicate lets through what makes it true, any other path what
-- it finds something in.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
select plan(37);

create temporary table asked (filter text, payload text, passes boolean, id uuid, event uuid);
insert into asked (filter, payload, passes) values
  ('$.country == "DE"', '{"country": "DE"}', true), ('$.country == "DE"', '{"country": "FR"}', false), ('$.country == "DE"', '{}', false),
  ('$.country == "DE"', '{"country": null}', false), ('$.country != "DE"', '{"country": "FR"}', true),
  ('$.total > 100', '{"total": 100.01}', true), ('$.total > 100', '{"total": 100}', false), ('$.total > 100', '{"total": "101"}', false),
  ('$.total > 100', '{"total": 1e3}', true),
  ('$.total ? (@ > 100)', '{"total": 101}', true), ('$.total ? (@ > 100)', '{"total": 99}', false), ('$.total ? (@ > 100)', '{}', false),
  ('$.items[*].sku ? (@ == "x")', '{"items": [{"sku": "y"}, {"sku": "x"}]}', true), ('$.items[*].sku ? (@ == "x")', '{"items": [{"sku": "y"}]}', false),
  ('$.items[*].sku == "x"', '{"items": [{"sku": "y"}, {"sku": "x"}]}', true), ('$.items.size() > 1', '{"items": [1, 2]}', true),
  ('$.a == 1 && $.b == 2', '{"a": 1, "b": 2}', true), ('$.a == 1 && $.b == 2', '{"a": 1, "b": 3}', false), ('$.a == 1 || $.b == 2', '{"a": 1, "b": 3}', true),
  ('!($.a == 1)', '{"a": 2}', true), ('exists($.a)', '{"a": null}', true), ('exists($.a)', '{}', false),
  ('$.name like_regex "^ab" flag "i"', '{"name": "ABC"}', true), ('$.name starts with "b"', '{"name": "abc"}', false),
  -- A path that finds false or null finds nothing; 0 and the empty text are something.
  ('$.flag', '{"flag": true}', true), ('$.flag', '{"flag": false}', false), ('$.flag', '{"flag": null}', false), ('$.flag', '{}', false),
  ('$.flag', '{"flag": 0}', true), ('$.flag', '{"flag": ""}', true), ('$.flag', '{"flag": {}}', true), ('$.flags[*]', '{"flags": [false, true]}', true),
  ('$', '{}', true), ('$', 'false', false), ('$', '"text"', true), ('$ == 5', '5', true);
update asked set id = endpoint(p_filter => filter) where true;
update asked set event = outbox.publish_raw('a', payload) where true;
-- Thirty-six events for as many endpoints; the pairs that were asked are looked at.
select step(0), step(0);
select is(exists (select from outbox.delivery d where d.event_id = event and d.endpoint_id = id), passes,
  format('%s %s %s', filter, case when passes then 'lets through' else 'keeps back' end, payload)) from asked;
select is((select count(*) from outbox.attempt where outcome = 'filter_error'), 0::bigint, 'none of them is an error');

select * from finish();
rollback;
