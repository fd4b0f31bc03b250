-- When a filter lets an event through: a comparison if it is true, a path alone if it finds a value that is neither
-- false nor null, and a path with ? (…) if it finds anything.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
create temporary table asked (filter text, payload text, passes boolean, id uuid, event uuid);
insert into asked (filter, payload, passes) values
  ('$.country == "DE"', '{"country": "DE"}', true), ('$.country == "DE"', '{"country": "FR"}', false), ('$.country == "DE"', '{}', false),
  ('$.country == "DE"', '{"country": null}', false), ('$.country != "DE"', '{"country": "FR"}', true), ('$.country != "DE"', '{}', false),
  ('$.country != "DE"', '{"country": 5}', false), ('!($.country == "DE")', '{"country": 5}', true), ('!($.country == "DE")', '{}', true),
  ('$.country in ("DE", "FR")', '{"country": "FR"}', true), ('$.country in ("DE", "FR")', '{"country": "IT"}', false), ('$.n in (1, null, "x")', '{"n": null}', true),
  ('$.total > 100', '{"total": 100.01}', true), ('$.total > 100', '{"total": 100}', false), ('$.total > 100', '{"total": "101"}', false),
  ('$.total > 100', '{"total": 1e3}', true), ('$.total >= -1.5e2', '{"total": -150}', true), ('$.total > 100', '{"total": [101]}', false),
  ('$.total ? (@ > 100)', '{"total": 101}', true), ('$.total ? (@ > 100)', '{"total": 99}', false), ('$.total ? (@ > 100)', '{}', false),
  ('$.items[*].sku ? (@ == "x")', '{"items": [{"sku": "y"}, {"sku": "x"}]}', true), ('$.items[*].sku ? (@ == "x")', '{"items": [{"sku": "y"}]}', false),
  ('$.items[*].sku == "x"', '{"items": [{"sku": "y"}, {}, 5, {"sku": "x"}]}', true), ('$.items.size() > 1', '{"items": [1, 2]}', true), ('$.items.size() > 1', '{"items": 5}', false),
  ('$.items[*] ? (@.sku == "x" && @.n > 2)', '{"items": [{"sku": "x", "n": 1}, {"sku": "y", "n": 3}]}', false),
  ('$.items[*] ? (@.sku == "x" && @.n > 2)', '{"items": [{"sku": "x", "n": 3}]}', true), ('$.items[*] ? (!(@.sku == "x"))', '{"items": [{"sku": "x"}, {}]}', true),
  ('$.orders[*] ? (@.lines[*].sku == "x" && @.paid)', '{"orders": [{"lines": [{"sku": "x"}], "paid": true}]}', true),
  ('$.items[*] == "x"', '{"items": "x"}', false), ('$.items == "x"', '{"items": ["x"]}', false), ('$.items[0] == "x"', '{"items": ["x", "y"]}', true),
  ('$.items[last] == "x"', '{"items": ["y", "x"]}', true), ('$.prices.* > 10', '{"prices": {"a": 5, "b": 11}}', true), ('$[*] == 2', '[1, 2]', true),
  ('$.a == 1 && $.b == 2', '{"a": 1, "b": 2}', true), ('$.a == 1 && $.b == 2', '{"a": 1, "b": 3}', false), ('$.a == 1 || $.b == 2', '{"a": 1, "b": 3}', true),
  ('$.a == 1 || $.b == 2 && $.c == 3', '{"a": 1}', true), ('($.a == 1 || $.b == 2) && $.c == 3', '{"a": 1}', false), ('$.a == 1 || $.b == 2', '{"b": 2}', true),
  ('!($.a == 1)', '{"a": 2}', true), ('!!$.a', '{"a": 2}', true), ('!($.a == 1 && $.b == 1)', '{"a": 1}', true),
  ('exists($.a)', '{"a": null}', true), ('exists($.a)', '{}', false), ('!exists($.a)', '{}', true), ('exists($.a[*] ? (@ == 1))', '{"a": [1]}', true),
  ('$.name starts with "b"', '{"name": "abc"}', false), ('$.name starts with "ab"', '{"name": "abc"}', true), ('$.type.type() == "array"', '{"type": []}', true),
  ('$."a-b"."c d" == "\u00e9\"\n"', '{"a-b": {"c d": "é\"\n"}}', true), ('$.exists == 1', '{"exists": 1}', true),
  -- null equals null alone, and differs from every other value.
  ('$.country != "DE"', '{"country": null}', true), ('$.total != 1', '{"total": null}', true), ('$.a != null', '{"a": 5}', true), ('$.a != null', '{"a": {}}', true),
  ('$.a != null', '{"a": null}', false), ('$.a != null', '{}', false), ('$.a == null', '{"a": false}', false), ('$.n in (1, "x")', '{"n": null}', false),
  ('$.total < 1', '{"total": null}', false), ('$.total != 1', '{"total": true}', false),
  -- For a path alone, false and null do not count as a value; 0 and the empty text do.
  ('$.flag', '{"flag": true}', true), ('$.flag', '{"flag": false}', false), ('$.flag', '{"flag": null}', false), ('$.flag', '{}', false),
  ('$.flag', '{"flag": 0}', true), ('$.flag', '{"flag": ""}', true), ('$.flag', '{"flag": {}}', true), ('$.flags[*]', '{"flags": [false, true]}', true),
  ('$.flag ? (@ == false)', '{"flag": false}', true), ('$.flag == false', '{"flag": false}', true),
  ('$', '{}', true), ('$', 'false', false), ('$', '"text"', true), ('$ == 5', '5', true);
select plan((select count(*)::integer + 2 from asked));
update asked set id = endpoint(p_filter => filter) where true;
update asked set event = outbox.publish_raw('a', payload) where true;
-- Each event is asked by each endpoint; the pairs of one row are looked at.
create function all_steps() returns integer language plpgsql as $$
declare
  v_steps integer := 0;
begin
  while outbox.has_unrouted() and v_steps < 100 loop
    perform step(0);
    v_steps := v_steps + 1;
  end loop;
  return v_steps;
end
$$;
select cmp_ok(all_steps(), '<', 10, 'all are routed in a few calls');
select is(exists (select from outbox.delivery d where d.event_id = event and d.endpoint_id = id), passes,
  format('%s %s %s', filter, case when passes then 'lets through' else 'keeps back' end, payload)) from asked;
select is((select count(*) from outbox.attempt where outcome = 'filter_error'), 0::bigint, 'none of them is an error');

select * from finish();
rollback;
