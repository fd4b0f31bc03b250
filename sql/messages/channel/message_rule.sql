-- Rules for WhatsApp's error codes. The titles are Meta's. The code decides and not the HTTP
-- status, because a code comes with several statuses. If Meta sets is_transient, a fail or hold
-- becomes a retry, unless the rule is firm. A code without a rule is retried.
--
-- If no response comes but the attempt may have reached WhatsApp, its outcome is unknown, and a
-- second call could send a second message. So the retry waits ten minutes for a callback.

insert into outbox.error_hint (error_class, hint) values
  ('provider', 'The provider rejected the message: see its code');

insert into outbox.failure_rule (kind, code, action, scope, min_delay_s, firm, title, note) values
  ('whatsapp', '4xx', 'retry', 'endpoint', 0, false, 'Rejected without a known code', ''),
  ('whatsapp', '410', 'retry', 'endpoint', 0, false, 'Rejected without a known code', ''),
  ('whatsapp', '429', 'throttle', 'endpoint', 10, false, 'Too many requests, without a code', ''),
  ('whatsapp', 'timeout', 'retry', 'endpoint', 600, false, 'No response in time',
    'Unknown outcome'),
  ('whatsapp', 'reset', 'retry', 'endpoint', 600, false, 'The connection broke',
    'Unknown outcome'),
  ('whatsapp', 'lease_expired', 'retry', 'endpoint', 600, false, 'The run ended',
    'Unknown outcome'),
  ('whatsapp', 'blocked', 'hold', 'endpoint', 0, false, 'The Graph API may not be reached',
    'Correct whatsapp.graph_url or the egress settings'),
  ('whatsapp', 'invalid_token', 'hold', 'endpoint', 0, false, 'The access token cannot be sent',
    'set_channel_token() replaces it'),
  ('whatsapp', 'invalid_payload', 'fail', 'endpoint', 0, false, 'The payload is invalid', ''),
  ('whatsapp', 'incomplete', 'retry', 'endpoint', 60, false, 'Functions and schema differ',
    'Deploy the functions of the migration'),
  ('whatsapp', '0', 'hold', 'endpoint', 0, false, 'AuthException', 'New token'),
  ('whatsapp', '1', 'retry', 'endpoint', 60, false, 'API Unknown', ''),
  ('whatsapp', '2', 'retry', 'endpoint', 60, false, 'API Service', ''),
  ('whatsapp', '3', 'hold', 'endpoint', 0, false, 'API Method', 'A permission is missing'),
  ('whatsapp', '4', 'throttle', 'app', 900, false, 'API Too Many Calls', ''),
  ('whatsapp', '10', 'hold', 'endpoint', 0, false, 'Permission Denied', ''),
  ('whatsapp', '17', 'throttle', 'app', 900, false, 'User request limit reached', ''),
  ('whatsapp', '32', 'throttle', 'app', 900, false, 'Page request limit reached', ''),
  ('whatsapp', '341', 'throttle', 'app', 900, false, 'Application limit reached', ''),
  ('whatsapp', '613', 'throttle', 'app', 900, false, 'Custom rate limit reached', ''),
  ('whatsapp', '33', 'hold', 'endpoint', 0, false, 'Parameter value is not valid',
    'The business number was deleted'),
  ('whatsapp', '100', 'fail', 'endpoint', 0, false, 'Invalid parameter', ''),
  ('whatsapp', '100.33', 'hold', 'endpoint', 0, false, 'Unsupported post request',
    'The number''s id is wrong, or the token may not use it'),
  ('whatsapp', '104', 'hold', 'endpoint', 0, false, 'Access token has expired', 'New token'),
  ('whatsapp', '190', 'hold', 'endpoint', 0, false, 'Access token has expired', 'New token'),
  ('whatsapp', '368', 'hold', 'endpoint', 0, false,
    'Temporarily blocked for policies violations', ''),
  ('whatsapp', '80007', 'throttle', 'account', 900, false, 'Rate limit issues', 'The account''s'),
  ('whatsapp', '80008', 'throttle', 'account', 900, false, 'Too many calls to this account', ''),
  ('whatsapp', '130403', 'fail', 'endpoint', 0, false, 'Business has blocked the end user', ''),
  ('whatsapp', '130429', 'throttle', 'endpoint', 10, false, 'Rate limit hit', 'The number''s'),
  ('whatsapp', '130472', 'fail', 'endpoint', 0, false, 'User''s number is part of an experiment',
    ''),
  ('whatsapp', '130497', 'fail', 'endpoint', 0, false,
    'Business account is restricted from messaging users in this country', ''),
  ('whatsapp', '130501', 'fail', 'endpoint', 0, false, 'Message type is not supported', ''),
  ('whatsapp', '131000', 'retry', 'endpoint', 60, false, 'Something went wrong', ''),
  ('whatsapp', '131001', 'fail', 'endpoint', 0, false, 'Message too long', ''),
  ('whatsapp', '131002', 'fail', 'endpoint', 0, false, 'Invalid recipient type', ''),
  ('whatsapp', '131005', 'hold', 'endpoint', 0, false, 'Access denied', 'A permission is missing'),
  ('whatsapp', '131006', 'fail', 'endpoint', 0, false, 'Resource not found', ''),
  ('whatsapp', '131008', 'fail', 'endpoint', 0, false, 'Required parameter is missing', ''),
  ('whatsapp', '131009', 'fail', 'endpoint', 0, false, 'Parameter value is not valid',
    'A malformed number, too'),
  ('whatsapp', '131014', 'fail', 'endpoint', 0, false, 'Request for url failed', 'A media link'),
  ('whatsapp', '131016', 'retry', 'endpoint', 60, false, 'Service unavailable', ''),
  ('whatsapp', '131020', 'fail', 'endpoint', 0, false, 'Groups API error', ''),
  ('whatsapp', '131021', 'fail', 'endpoint', 0, false, 'Recipient cannot be sender', ''),
  ('whatsapp', '131026', 'fail', 'endpoint', 0, false, 'Message undeliverable',
    'Not on WhatsApp, or has blocked the business'),
  ('whatsapp', '131030', 'fail', 'endpoint', 0, false, 'Recipient not in allowed list',
    'A test number'),
  ('whatsapp', '131031', 'fail_hold', 'endpoint', 0, true, 'Account has been locked',
    'Called "recipient blocked" elsewhere; it is the sender''s account'),
  ('whatsapp', '131037', 'hold', 'endpoint', 0, false, 'Display name is not approved', ''),
  ('whatsapp', '131041', 'fail', 'endpoint', 0, false, 'Groups API error', ''),
  ('whatsapp', '131042', 'hold', 'endpoint', 0, false, 'Business eligibility payment issue', ''),
  ('whatsapp', '131043', 'fail', 'endpoint', 0, false, 'Message expired', ''),
  ('whatsapp', '131045', 'hold', 'endpoint', 0, false, 'Incorrect certificate', ''),
  ('whatsapp', '131047', 'fail', 'endpoint', 0, true, 'Re-engagement message',
    'Called "invalid parameter" elsewhere; more than 24 hours since the recipient wrote'),
  ('whatsapp', '131048', 'throttle', 'endpoint', 3600, false, 'Spam rate limit hit', ''),
  ('whatsapp', '131049', 'fail', 'endpoint', 0, false,
    'Not delivered to maintain healthy ecosystem engagement', 'A new message after 24 hours'),
  ('whatsapp', '131050', 'fail', 'endpoint', 0, false, 'User stopped marketing messages', ''),
  ('whatsapp', '131051', 'fail', 'endpoint', 0, false, 'Unsupported message type', ''),
  ('whatsapp', '131052', 'fail', 'endpoint', 0, false, 'Media download error', ''),
  ('whatsapp', '131053', 'retry', 'endpoint', 300, false, 'Media upload error', 'A media link'),
  ('whatsapp', '131055', 'fail', 'endpoint', 0, false, 'Method not allowed', ''),
  ('whatsapp', '131056', 'throttle', 'lane', 60, false, 'Pair rate limit hit', 'One recipient''s'),
  ('whatsapp', '131057', 'throttle', 'endpoint', 60, false, 'Account in maintenance mode', ''),
  ('whatsapp', '131058', 'fail', 'endpoint', 0, false,
    'This template may only be sent from a public test number', ''),
  ('whatsapp', '131059', 'fail', 'endpoint', 0, false, 'Groups API error', ''),
  ('whatsapp', '131060', 'fail', 'endpoint', 0, false, 'This message is unavailable', ''),
  ('whatsapp', '131062', 'fail', 'endpoint', 0, false,
    'Recipient without a number is not supported for this message', ''),
  ('whatsapp', '131063', 'fail', 'endpoint', 0, false,
    'Marketing templates are disabled for this account', ''),
  ('whatsapp', '131064', 'hold', 'endpoint', 0, false,
    'Messaging limit due to template classification violations', ''),
  ('whatsapp', '131208', 'throttle', 'endpoint', 60, false, 'Groups API rate limit', ''),
  ('whatsapp', '132000', 'fail', 'endpoint', 0, false, 'Template Param Count Mismatch', ''),
  ('whatsapp', '132001', 'fail', 'endpoint', 0, false, 'Template does not exist', ''),
  ('whatsapp', '132005', 'fail', 'endpoint', 0, false, 'Template Hydrated Text Too Long', ''),
  ('whatsapp', '132007', 'fail', 'endpoint', 0, false,
    'Template Format Character Policy Violated', ''),
  ('whatsapp', '132008', 'fail', 'endpoint', 0, false, 'Template parameter value is wrong', ''),
  ('whatsapp', '132012', 'fail', 'endpoint', 0, false, 'Template Parameter Format Mismatch', ''),
  ('whatsapp', '132018', 'fail', 'endpoint', 0, false, 'Template parameter validation error', ''),
  ('whatsapp', '132015', 'fail', 'endpoint', 0, false, 'Template is Paused', ''),
  ('whatsapp', '132016', 'fail', 'endpoint', 0, false, 'Template is Disabled', ''),
  ('whatsapp', '132068', 'fail', 'endpoint', 0, false, 'Flow is blocked', ''),
  ('whatsapp', '132069', 'retry', 'endpoint', 3600, false, 'Flow is throttled', ''),
  ('whatsapp', '133000', 'fail', 'endpoint', 0, true, 'Incomplete Deregistration',
    'Called "invalid phone number" elsewhere; the sender''s registration'),
  ('whatsapp', '133004', 'fail', 'endpoint', 0, true, 'Server Temporarily Unavailable',
    'Called "template not found" elsewhere; Meta''s title suggests a retry'),
  ('whatsapp', '133005', 'fail', 'endpoint', 0, false, 'Two-step verification PIN Mismatch', ''),
  ('whatsapp', '133006', 'fail', 'endpoint', 0, true, 'Phone number Re-verification Needed',
    'Called "template disabled" elsewhere; the sender''s registration'),
  ('whatsapp', '133008', 'fail', 'endpoint', 0, false, 'Too Many PIN Guesses', ''),
  ('whatsapp', '133009', 'fail', 'endpoint', 0, false, 'PIN Guessed Too Fast', ''),
  ('whatsapp', '133010', 'hold', 'endpoint', 0, false, 'Phone number Not Registered', ''),
  ('whatsapp', '133015', 'retry', 'endpoint', 300, false, 'Wait before registering', ''),
  ('whatsapp', '133016', 'throttle', 'endpoint', 3600, false, 'Registration rate limit', ''),
  ('whatsapp', '134011', 'hold', 'endpoint', 0, false, 'Payments terms are not accepted', ''),
  ('whatsapp', '134100', 'fail', 'endpoint', 0, false, 'Only marketing messages are allowed', ''),
  ('whatsapp', '134101', 'retry', 'endpoint', 600, false, 'Template is syncing', ''),
  ('whatsapp', '134102', 'hold', 'endpoint', 0, false, 'Template is unavailable', ''),
  ('whatsapp', '135000', 'fail', 'endpoint', 0, false, 'Generic user error', ''),
  ('whatsapp', '136025', 'fail', 'endpoint', 0, false, 'Verify code error', ''),
  ('whatsapp', '137000', 'fail', 'endpoint', 0, false, 'Recipient identity key mismatch', ''),
  ('whatsapp', '2494100', 'throttle', 'endpoint', 300, false, 'In maintenance', '');

-- 131201 to 131215 are Groups API errors, except 131208, its rate limit (above). 200 to 299 are
-- permissions.
insert into outbox.failure_rule (kind, code, action, title)
select 'whatsapp', n::text, 'fail', 'Groups API error'
from pg_catalog.generate_series(131201, 131215) n where n <> 131208;
insert into outbox.failure_rule (kind, code, action, title)
select 'whatsapp', n::text, 'hold', 'API Permission'
from pg_catalog.generate_series(200, 299) n;

-- Store an opt-out if the recipient opted out at WhatsApp (131050) or the business blocked the
-- recipient (130403).
update outbox.failure_rule f set opt_out = case f.code when '131050' then 'MARKETING' else 'ALL' end
where f.kind = 'whatsapp' and f.code in ('131050', '130403');

-- Final, about one recipient, and nobody can correct it: the message is FAILED, which its audit and
-- activity rows record, but there is no dead letter to replay, and no alert fires for it.
update outbox.failure_rule f set of_recipient = true
where f.kind = 'whatsapp' and f.code in ('130403', '130472', '131021', '131026', '131030', '131043',
  '131047', '131049', '131050', '131062', '137000');

-- A media link may work again after a few minutes, but rarely later.
update outbox.failure_rule f set max_retries = 2
where f.kind = 'whatsapp' and f.code = '131053';

-- The token is expired or lacks a permission: a new token fixes it.
update outbox.failure_rule f set new_token = true
where f.kind = 'whatsapp' and f.action = 'hold'
  and (f.code in ('0', '3', '10', '100.33', '104', '190', '131005', 'invalid_token')
    or f.code between '200' and '299' and pg_catalog.length(f.code) = 3);
