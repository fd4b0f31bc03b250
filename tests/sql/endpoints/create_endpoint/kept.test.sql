-- An endpoint keeps its id, organisation and kind, also in an UPDATE at a console.
begin;
\ir ../../_helpers.sql
select plan(5);

create temporary table made as select endpoint() as id;
create function changed(p_set text) returns text language plpgsql as $$
begin
  return (select helper.refusal(format('update outbox.endpoint set %s where id = %L', p_set, id)) = format('OH004 endpoint %s keeps its id, organisation and kind', id) from made);
end
$$;
select ok(changed($$org_id = 'other'$$)::boolean, 'another organisation is refused');
select ok(changed($$kind = 'slack'$$)::boolean, 'another kind is refused');
select ok(changed('id = gen_random_uuid()')::boolean, 'another id is refused');
select is(refusal($$update outbox.endpoint set org_id = 'default', kind = 'webhook', description = 'd'$$), 'accepted', 'the same values are accepted');
select is((select description from outbox.endpoint join made using (id)), 'd', 'with the other changes of the same update');

select * from finish();
rollback;
