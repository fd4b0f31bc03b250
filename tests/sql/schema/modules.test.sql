-- Each module of sql/order.txt records itself at its end.
begin;
\ir ../_helpers.sql
select plan(2);

select is(outbox.installed_modules(), '["core", "api", "sagas", "inbox", "watch", "brokers", "messages"]', 'all modules in their order');
select is(outbox.module_problem(), null, 'all of one version');

select * from finish();
rollback;
