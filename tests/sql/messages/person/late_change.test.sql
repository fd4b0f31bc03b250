-- A person changes the number twice, and the first change is reported last.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(7);

create temporary table made as select channel() as a, template() as code, template('promo', 'MARKETING') as promo;
create function ids(p_number text, p_user text default null) returns jsonb language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('wa_id', p_number, 'user_id', p_user))
$$;
create function changes(p_old text, p_new text, p_after integer, p_user text default null) returns jsonb language sql as $$
  select says('', ids(p_old, p_user) || '{"status": "system"}', p_after, jsonb_build_object('system', jsonb_build_object('type', 'user_changed_number', 'wa_id', p_new)))
$$;
select receive(says('STOP', ids('12025550410', 'US.410'), 1));
select receive(changes('12025550411', '12025550412', 9, 'US.410'));
select receive(changes('12025550410', '12025550411', 5, 'US.410'));
select is(known_as('US.410'), '+12025550412 US.410', 'with a user id, the person has the last number');
select is(wants('+12025550412'), 'ALL', 'the opt-out is of the last number');
select receive(says('STOP', ids('12025550510'), 1));
select receive(changes('12025550511', '12025550512', 9));
select receive(changes('12025550510', '12025550511', 5));
select is(wants('+12025550512'), 'ALL', 'without a user id, the opt-out goes to the last number');
select is(wants('+12025550511'), 'ALL', 'nobody writes to the number in between');
select is(known_as('+12025550510'), '+12025550510', 'the first number is alone');
select is(known_as('+12025550511'), '+12025550511', 'the number in between is alone');
select is(known_as('+12025550512'), '+12025550512', 'the last number is alone');
select * from finish();
rollback;
