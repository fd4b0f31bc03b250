-- The database records the version of each module; a migration is applied only on the version before its own.
begin;
\ir ../../_helpers.sql
select plan(13);

select is(outbox.module_versions() -> 'core', outbox.version() -> 'version', 'the core has the version of the schema');
select is(outbox.installed_modules() ->> 0, 'core', 'the core is the first module');
select is(outbox.module_problem(), null, 'all modules have one version');

select lives_ok($$select outbox.check_module('core', outbox.version() ->> 'version')$$, 'check_module() accepts the installed version');
select throws_ok($$select outbox.check_module('core', '9.9.9')$$, 'OH004',
  format('the module core has version %s: this migration needs version 9.9.9', outbox.version() ->> 'version'),
  'check_module() refuses another version, so that a migration is not applied twice');
select throws_ok($$select outbox.check_module('nothing', '1.0.0')$$, 'OH004',
  'the module nothing is not installed: this migration needs version 1.0.0', 'check_module() refuses a module that is missing');
select throws_ok($$select outbox.check_module('core', null)$$, 'OH004', null, 'check_module() refuses null');

-- An upgrade of the core, and then of a module.
do $$ begin perform outbox.record_module('example'); end $$;
create temporary table before as select * from outbox.installed_module;
create or replace function outbox.version() returns jsonb language sql as $$ select '{"version": "9.9.9"}'::jsonb $$;
do $$ begin perform outbox.record_module('core'); end $$;
select is(outbox.module_versions() ->> 'core', '9.9.9', 'record_module() stores the new version');
select ok(m.installed_at = b.installed_at and m.changed_at > b.changed_at, 'and keeps the time of the installation')
from outbox.installed_module m join before b using (name) where m.name = 'core';
delete from outbox.installed_module where name not in ('core', 'example');
select is(outbox.module_problem(),
  format('an upgrade to 9.9.9 is not finished: the module example has version %s. Apply the other migrations of 9.9.9', b.version),
  'module_problem() names the modules that are left behind') from before b where name = 'example';
select is(outbox.queue_problems(outbox.queue_backlog()) @> array[outbox.module_problem()], true, 'it is among the problems of the queue');
do $$ begin perform outbox.record_module('example'); end $$;
select is(outbox.module_problem(), null, 'until their migrations are applied');
select is(outbox.installed_modules(), '["core", "example"]', 'installed_modules() has them in the order of their installation');

select * from finish();
rollback;
