-- How long the templates of a broker's topics and keys may be.
begin;
\ir ../../_helpers.sql
select plan(4);

create function made(p_kind text, p_field text, p_length integer) returns text language sql as $$
  select refusal(format('select outbox.create_broker_endpoint(%L, %L, %L)', p_kind,
    case p_kind when 'kafka' then '{"brokers": ["a.example:9092"]}'::jsonb else '{"url": "amqps://mq.example.com/", "exchange": "shop"}' end
      || jsonb_build_object(p_field, repeat('x', p_length)),
    case p_kind when 'rabbitmq' then '{"username": "u", "password": "p"}' end))
$$;
select is(made('kafka', 'topic', 200), 'accepted', 'a topic of 200 characters');
select is(made('kafka', 'topic', 201), 'OH001 broker.topic is not 1 to 200 allowed characters', 'and no longer');
select is(made('rabbitmq', 'routing_key', 200), 'accepted', 'a routing key of 200 characters');
select is(made('rabbitmq', 'routing_key', 201), 'OH001 broker.routing_key is not 1 to 200 allowed characters', 'and no longer');

select * from finish();
rollback;
