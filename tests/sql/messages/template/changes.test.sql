-- Templates: each member of one can be changed, what is no template of Meta is refused, and an organisation
-- changes and deletes its own alone.
begin;
\ir ../../_helpers.sql
\ir ../../_messages.sql
select plan(16);

create function saved(p_more jsonb) returns jsonb language sql as $$
  select t - 'createdAt' - 'updatedAt' from outbox.put_template('default', 'reminder', coalesce(p_more ->> 'name', 'reminder'), coalesce(p_more ->> 'language', 'fr'),
    coalesce(p_more ->> 'category', 'UTILITY'), coalesce(p_more ->> 'parameterFormat', 'POSITIONAL')) t
$$;
select is(saved('{}'), '{"code": "reminder", "name": "reminder", "language": "fr", "category": "UTILITY", "parameterFormat": "POSITIONAL"}', 'a template is made');
select is(saved(c.more), '{"code": "reminder", "name": "reminder", "language": "fr", "category": "UTILITY", "parameterFormat": "POSITIONAL"}'::jsonb || c.more, format('changed: %s', c.more))
from (values (jsonb '{"name": "reminder_2"}'), ('{"language": "en_US"}'), ('{"language": "zh_Hant"}'), ('{"language": "fil"}'), ('{"category": "MARKETING"}'), ('{"parameterFormat": "NAMED"}')) c (more);
select is(refusal(format('select helper.saved(%L)', c.more)), 'OH001 ' || c.problem, 'refused: ' || c.more)
from (values
  ('{"name": "Reminder"}', 'name is not a template name of Meta'),
  ('{"language": "french"}', 'language is not a language code of Meta'),
  ('{"language": "en-US"}', 'language is not a language code of Meta'),
  ('{"category": "NEWS"}', $$category is 'NEWS'$$),
  ('{"parameterFormat": "BOTH"}', $$parameterFormat is 'BOTH'$$)) c (more, problem);

select outbox.put_template('org-2', 'reminder', 'theirs', 'fr', 'UTILITY');
select is(outbox.delete_template('org-2', 'reminder') ->> 'name', 'theirs', 'one is deleted, and returned');
select is(outbox.list_templates('default') #>> '{data,0,code}', 'reminder', 'that of the same code of another organisation stays');
select is(outbox.list_templates('org-2'), '{"data": []}', 'and its own is gone');
select is(refusal($$select outbox.delete_template('org-2', 'reminder')$$), $$OH002 template 'reminder' does not exist$$, 'a second time there is none');

select * from finish();
rollback;
