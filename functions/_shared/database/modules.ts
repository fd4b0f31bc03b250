import type { FunctionName, SqlError } from './functions.ts'
import { isMissingFunction, sameVersionAdvice } from './versions.ts'

/** A module of the schema that may be left out, and that a function needs. */
type Needed = 'api' | 'sagas' | 'inbox' | 'brokers' | 'messages'

const migrations: Record<Needed, string> = {
  api: '20260101000001_outhook_api.sql',
  sagas: '20260101000002_outhook_sagas.sql',
  inbox: '20260101000003_outhook_inbox.sql',
  brokers: '20260101000005_outhook_brokers.sql',
  messages: '20260101000006_outhook_messages.sql',
}

/** The SQL functions that the functions call, by module; all others are of the core. */
const called: Record<Needed, readonly FunctionName[]> = {
  api: [
    'act_on_delivery',
    'change_replay_job',
    'count_requests',
    'create_backfill',
    'create_org_endpoint',
    'create_replay_job',
    'delete_event_type',
    'delete_org_endpoint',
    'discard_org_dead_letter',
    'expire_org_secret',
    'get_dead_letter',
    'get_delivery',
    'get_event',
    'get_event_type',
    'get_health',
    'get_org_endpoint',
    'get_org_overview',
    'get_org_secret',
    'get_org_stats',
    'get_org_test',
    'get_replay_job',
    'get_retry_config',
    'group_dead_letters',
    'list_attempts',
    'list_audit_events',
    'list_dead_letters',
    'list_deliveries',
    'list_event_type_changes',
    'list_event_types',
    'list_events',
    'list_org_attempts',
    'list_org_endpoints',
    'list_org_settings',
    'list_replay_jobs',
    'list_revoked_portal_tokens',
    'list_runs',
    'pause_org_endpoint',
    'preview_backfill',
    'preview_replay_job',
    'preview_retry_config',
    'publish_events',
    'put_event_type',
    'read_catalogue',
    'record_portal_token',
    'replay_dead_letter',
    'resume_org_endpoint',
    'revoke_portal_token',
    'revoke_portal_tokens',
    'rotate_org_secret',
    'search_org',
    'set_catalogue',
    'set_retry_config',
    'take_requests',
    'test_org_endpoint',
    'try_filter',
    'update_org_endpoint',
  ],
  sagas: ['execute_org_saga', 'get_saga', 'get_saga_execution', 'list_sagas'],
  inbox: [
    'accept_once',
    'check_handler',
    'consume',
    'list_consumers',
    'report_dead_message',
    'take_events',
  ],
  brokers: ['claim_broker_replay', 'record_broker_replay'],
  messages: [
    'callback_app',
    'cancel_message',
    'change_opt_out',
    'count_callbacks',
    'count_messages',
    'create_channel',
    'create_message',
    'delete_channel',
    'delete_template',
    'get_channel',
    'get_channel_access',
    'get_message',
    'get_person',
    'get_whatsapp_app',
    'list_activity',
    'list_channels',
    'list_consents',
    'list_inbound_messages',
    'list_messages',
    'list_opt_outs',
    'list_templates',
    'part_person',
    'put_template',
    'put_whatsapp_app',
    'receive_callbacks',
    'resend_message',
    'resume_channel',
    'set_channel_token',
    'set_default_channel',
    'update_channel',
  ],
}

const modules = new Map<string, Needed>()
for (const module of ['api', 'sagas', 'inbox', 'brokers', 'messages'] as const) {
  for (const name of called[module]) modules.set(name, module)
}

/** The kinds of endpoints that a module adds. */
const kinds: Readonly<Record<string, Needed>> = {
  kafka: 'brokers',
  rabbitmq: 'brokers',
  slack: 'brokers',
}

/** The module of a SQL function; null if it is of the core. */
export function moduleOf(name: string): string | null {
  return modules.get(name) ?? null
}

/** A module that is not installed, in sentences for people. */
export type MissingModule = {
  module: string
  /** `The module messages is not installed`. */
  problem: string
  /** What the operator can do about it. */
  remedy: string
}

/**
 * The module that is not installed if a call of the SQL function `name` failed with this error; null
 * if the error has another cause. PostgREST suggests the function with its parameters if it exists.
 */
export function missingModule(
  name: string,
  error: Pick<SqlError, 'code' | 'hint'>,
): MissingModule | null {
  const exists = error.hint?.includes(`outbox.${name}(`) === true
  return isMissingFunction(error) && !exists ? notInstalled(name) : null
}

/** What to say if the module of the SQL function `name` is not installed; null for the core. */
export function notInstalled(name: string): MissingModule | null {
  return describe(modules.get(name))
}

/** What to say if the module of a kind of endpoint is not installed; null for a kind of the core. */
export function kindNotInstalled(kind: string): MissingModule | null {
  return describe(kinds[kind])
}

function describe(module: Needed | undefined): MissingModule | null {
  if (module === undefined) return null
  return {
    module,
    problem: `The module ${module} is not installed`,
    remedy:
      `add supabase/migrations/${migrations[module]}, or run outhook init --modules ${module}, ` +
      `and push the migrations; if it is there, ${sameVersionAdvice}`,
  }
}
