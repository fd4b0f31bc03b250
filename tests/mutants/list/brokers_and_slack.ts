import type { Mutant } from '../mutant.ts'

export const brokersAndSlack: readonly Mutant[] = [
  {
    file: 'functions/_shared/senders/rabbitmq/bounds.ts',
    find: 'tag < inner.lwm + inner.unconfirmed.length',
    replace: 'tag <= inner.lwm + inner.unconfirmed.length',
    tests: ['functions/_shared/senders/rabbitmq/hostile.test.ts'],
    why: 'RabbitMQ confirms a message that it did not get, and its place in an array is taken.',
  },
  {
    file: 'functions/_shared/senders/kafka/frames.ts',
    find: 'if (left < 0 || left > most) return false',
    replace: 'if (left < 0) return false',
    tests: ['functions/_shared/senders/kafka/hostile.test.ts'],
    why: 'A broker of Kafka fills the memory of a run with one response.',
  },
  {
    file: 'functions/_shared/senders/kafka/frames.ts',
    find: 'socket.destroy(asError(cause))',
    replace: 'throw cause',
    tests: ['functions/_shared/senders/kafka/hostile.test.ts'],
    why: 'A response without a number ends the process that delivers for all organisations.',
  },
  {
    file: 'functions/_shared/senders/kafka/bounds.ts',
    find: 'if (iterations <= mostIterations)',
    replace: 'if (iterations > 0)',
    tests: ['functions/_shared/senders/kafka/hostile.test.ts'],
    why: 'A broker of Kafka keeps the threads of the process busy that look up names.',
  },
  {
    file: 'sql/brokers/broker_check.sql',
    find: `else outbox.authority_problem('https://' || p_address)`,
    replace: 'else null',
    tests: ['sql/brokers/create_broker_endpoint/cases.test.sql'],
    why: 'A broker may be any address of the inside.',
  },
  {
    file: 'sql/brokers/broker_check.sql',
    find: 'where k <> all (p_members) order by k limit 1;',
    replace: 'where false;',
    tests: ['sql/brokers/create_broker_endpoint/cases.test.sql'],
    why: 'A misspelt setting of a broker is dropped without a word.',
  },
  {
    file: 'sql/brokers/broker_check.sql',
    find:
      `    perform outbox.invalid('credentials', 'is missing', 'Expected {"username", "password"}');`,
    replace: '    return;',
    tests: ['sql/brokers/create_broker_endpoint/cases.test.sql'],
    why: 'A RabbitMQ endpoint is made without credentials, and no delivery of it succeeds.',
  },
  {
    file: 'sql/brokers/broker_check.sql',
    find: `    or pg_catalog.length(v_text) > 200
`,
    replace: `    or pg_catalog.length(v_text) > 2000
`,
    tests: ['sql/brokers/create_broker_endpoint/bounds.test.sql'],
    why: 'A routing key of 2,000 characters is stored, which AMQP cannot carry.',
  },
  {
    file: 'sql/brokers/broker_check.sql',
    find: `p_ca #>> '{}' !~ '^\\s*-----BEGIN CERTIFICATE-----' or`,
    replace: 'false or',
    tests: ['sql/brokers/create_broker_endpoint/cases.test.sql'],
    why: 'Whatever is given as a certificate is stored, and TLS fails.',
  },
  {
    file: 'sql/brokers/slack.sql',
    find: 'set url = outbox.masked_slack_url(p_url)',
    replace: 'set url = p_url',
    tests: ['sql/brokers/create_slack_endpoint/cases.test.sql'],
    why: 'Who reads an endpoint can write into its channel.',
  },
  {
    file: 'sql/brokers/slack.sql',
    find: `  perform outbox.check_url(p_url);
`,
    replace: '',
    tests: ['sql/brokers/create_slack_endpoint/cases.test.sql'],
    why: 'A Slack endpoint may be any address of the inside.',
  },
  {
    file: 'sql/brokers/slack.sql',
    find: `  if v_before.kind <> 'slack' then`,
    replace: `  if v_before.kind = 'whatsapp' then`,
    tests: ['sql/brokers/create_slack_endpoint/cases.test.sql'],
    why: 'set_slack_url() takes the credentials of a broker away.',
  },
  {
    file: 'sql/brokers/broker.sql',
    find: '  if v_stored is not null and outbox.has_new_address(p_before.config, (',
    replace: '  if false and outbox.has_new_address(p_before.config, (',
    tests: ['sql/endpoints/other_host/cases.test.sql'],
    why: 'Whoever may change a broker reads its password at a broker of their own.',
  },
  {
    file: 'sql/endpoints/other_host.sql',
    find: '  if v_missing is not null then',
    replace: '  if false then',
    tests: ['sql/endpoints/other_host/cases.test.sql'],
    why: 'Whoever may change a URL reads the custom headers at a host of their own.',
  },
  {
    file: 'sql/brokers/slack.sql',
    find: `('slack', 'no_service', 'hold',`,
    replace: `('slack', 'no_service', 'retry',`,
    tests: [
      'sql/brokers/create_slack_endpoint/cases.test.sql',
      'functions/_shared/senders/slack/sender.test.ts',
    ],
    why: 'An endpoint whose webhook was removed gets every further delivery.',
    sql:
      `update outbox.failure_rule set action = 'retry' where kind = 'slack' and code = 'no_service';`,
  },
  {
    file: 'sql/brokers/slack.sql',
    find: `''), 2, 1, 5, v_now, v_now)`,
    replace: `''), 2, 100, 5, v_now, v_now)`,
    tests: ['sql/brokers/create_slack_endpoint/cases.test.sql'],
    why: 'Slack is written to faster than it allows.',
  },
  {
    file: 'functions/_shared/senders/broker/record.ts',
    find: 'isDeadLetter ? event.body : bodyOf',
    replace: '!isDeadLetter ? event.body : bodyOf',
    tests: ['functions/_shared/senders/broker/record.test.ts'],
    why: 'A record has the other form than its endpoint chose.',
  },
  {
    file: 'functions/_shared/senders/broker/record.ts',
    find: 'signatures: null })',
    replace: `signatures: { standard: 'v1,x', simple: null } })`,
    tests: ['functions/_shared/senders/broker/record.test.ts'],
    why: 'A record names a signature that signs nothing.',
  },
  {
    file: 'functions/_shared/senders/broker/template.ts',
    find: 'partition_key: null })',
    replace: '})',
    tests: ['functions/_shared/senders/broker/template.test.ts'],
    why: 'A key that looks like a placeholder chooses the dead-letter topic.',
  },
  {
    file: 'functions/_shared/senders/broker/template.ts',
    find: `.replaceAll('{key}', () => partition_key ?? '')`,
    replace: `.replaceAll('{key}', partition_key ?? '')`,
    tests: ['functions/_shared/senders/broker/template.test.ts'],
    why: 'A key with a dollar sign goes to another topic.',
  },
  {
    file: 'functions/_shared/senders/kafka/cluster.ts',
    find: '        if (isLate()) throw new TooLate()\n',
    replace: '',
    tests: ['e2e/broker_kafka.test.ts'],
    why: 'A record is written after its attempt was recorded as a timeout, and then again.',
  },
  {
    file: 'functions/_shared/senders/kafka/failure.ts',
    find: `if (socketError !== null) return unreachable(socketError)
`,
    replace: '',
    tests: ['functions/_shared/senders/kafka/failure.test.ts'],
    why: 'A broker whose name does not resolve is told as one that refuses.',
  },
  {
    file: 'functions/_shared/senders/kafka/failure.ts',
    find: '/^[A-Z_]+$/.test(error.type)',
    replace: 'true',
    tests: ['functions/_shared/senders/kafka/failure.test.ts'],
    why: `An error of the client is taken for the broker's word, and a delivery dies of it.`,
  },
  {
    file: 'functions/_shared/senders/rabbitmq/connection.ts',
    find: 'if (error !== undefined || socket.writableFinished) socket.destroy()',
    replace: 'if (socket.destroyed) socket.destroy()',
    tests: ['functions/_shared/senders/rabbitmq/hostile.test.ts'],
    why: 'A broker that does not end its own side of a connection keeps a socket of the process.',
  },
  {
    file: 'functions/_shared/senders/rabbitmq/reply.ts',
    find: `if (error.message.startsWith('Expected ConnectionOpenOk')) return 'NOT_ALLOWED'
`,
    replace: '',
    tests: ['functions/_shared/senders/rabbitmq/reply.test.ts'],
    why: 'A virtual host that is not there is retried for ever.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: `  v_before constant timestamptz := p_now - interval '1 hour';`,
    replace: `  v_before constant timestamptz := p_now - interval '1 minute';`,
    tests: ['sql/brokers/record_broker_replay/cases.test.sql'],
    why: 'A dead letter that dlq:replay is publishing is open again, and published twice.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: `  where x.id = any (v_letters) and x.replayed_at is null
  having`,
    replace: `  where false
  having`,
    tests: ['sql/brokers/record_broker_replay/cases.test.sql'],
    why: 'A dead letter that is open again has no alert.',
  },
  {
    file: 'functions/_shared/senders/lazy.ts',
    find: 'if (failure !== null && !isAvailable()) return Promise.reject(failure.error)',
    replace: '',
    tests: ['functions/_shared/senders/lazy.test.ts'],
    why: 'Each delivery loads a module that is not there.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: '.filter(([, sender]) => sender.isAvailable?.() ?? true)',
    replace: '',
    tests: ['functions/deliver/run_project.test.ts'],
    why:
      'A process whose broker client cannot be loaded claims and releases deliveries all the time.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: `        and (x.endpoint_id = any (v_endpoints)
          or not exists (select from outbox.gate g where g.endpoint_id = x.endpoint_id))`,
    replace: '        and x.endpoint_id = any (v_endpoints)',
    tests: ['sql/brokers/record_broker_replay/abandoned.test.sql'],
    why: 'The letters of purged endpoints stay claimed for good.',
  },
  {
    file: 'sql/brokers/recovered_letter.sql',
    find: 'order by o.turn, o.replayed_at',
    replace: 'order by o.replayed_at',
    tests: ['sql/brokers/record_broker_replay/abandoned.test.sql'],
    why: 'A hundred letters of one endpoint keep those of all others claimed.',
  },
]
