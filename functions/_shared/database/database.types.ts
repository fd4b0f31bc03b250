// Written by `deno task types` from the schema outbox: change the schema instead.
// deno-lint-ignore-file

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[]

export type Database = {
  'outbox': {
    Tables: {
      'activity': {
        Row: {
          'created_at': string
          'dossier_id': string
          'id': number
          'metadata': NonNullable<Json>
          'org_id': string
          'type': string
        }
        ComputedFields: never
        Insert: {
          'created_at': string
          'dossier_id': string
          'id'?: never
          'metadata': NonNullable<Json>
          'org_id': string
          'type': string
        }
        Update: {
          'created_at'?: string
          'dossier_id'?: string
          'id'?: never
          'metadata'?: NonNullable<Json>
          'org_id'?: string
          'type'?: string
        }
        Relationships: []
      }
      'attempt': {
        Row: {
          'at': string
          'attempt': number
          'duration_ms': number | null
          'endpoint_id': string | null
          'endpoint_version': number | null
          'error': string | null
          'error_class': string | null
          'event_id': string
          'failed_attempts': number | null
          'kind': string
          'next_retry_at': string | null
          'outcome': string
          'resent': boolean | null
          'response': string | null
          'response_cut': boolean | null
          'response_lossy': boolean | null
          'status': number | null
        }
        ComputedFields: never
        Insert: {
          'at': string
          'attempt': number
          'duration_ms'?: number | null
          'endpoint_id'?: string | null
          'endpoint_version'?: number | null
          'error'?: string | null
          'error_class'?: string | null
          'event_id': string
          'failed_attempts'?: number | null
          'kind': string
          'next_retry_at'?: string | null
          'outcome': string
          'resent'?: boolean | null
          'response'?: string | null
          'response_cut'?: boolean | null
          'response_lossy'?: boolean | null
          'status'?: number | null
        }
        Update: {
          'at'?: string
          'attempt'?: number
          'duration_ms'?: number | null
          'endpoint_id'?: string | null
          'endpoint_version'?: number | null
          'error'?: string | null
          'error_class'?: string | null
          'event_id'?: string
          'failed_attempts'?: number | null
          'kind'?: string
          'next_retry_at'?: string | null
          'outcome'?: string
          'resent'?: boolean | null
          'response'?: string | null
          'response_cut'?: boolean | null
          'response_lossy'?: boolean | null
          'status'?: number | null
        }
        Relationships: []
      }
      'attempt_default': {
        Row: {
          'at': string
          'attempt': number
          'duration_ms': number | null
          'endpoint_id': string | null
          'endpoint_version': number | null
          'error': string | null
          'error_class': string | null
          'event_id': string
          'failed_attempts': number | null
          'kind': string
          'next_retry_at': string | null
          'outcome': string
          'resent': boolean | null
          'response': string | null
          'response_cut': boolean | null
          'response_lossy': boolean | null
          'status': number | null
        }
        ComputedFields: never
        Insert: {
          'at': string
          'attempt': number
          'duration_ms'?: number | null
          'endpoint_id'?: string | null
          'endpoint_version'?: number | null
          'error'?: string | null
          'error_class'?: string | null
          'event_id': string
          'failed_attempts'?: number | null
          'kind': string
          'next_retry_at'?: string | null
          'outcome': string
          'resent'?: boolean | null
          'response'?: string | null
          'response_cut'?: boolean | null
          'response_lossy'?: boolean | null
          'status'?: number | null
        }
        Update: {
          'at'?: string
          'attempt'?: number
          'duration_ms'?: number | null
          'endpoint_id'?: string | null
          'endpoint_version'?: number | null
          'error'?: string | null
          'error_class'?: string | null
          'event_id'?: string
          'failed_attempts'?: number | null
          'kind'?: string
          'next_retry_at'?: string | null
          'outcome'?: string
          'resent'?: boolean | null
          'response'?: string | null
          'response_cut'?: boolean | null
          'response_lossy'?: boolean | null
          'status'?: number | null
        }
        Relationships: []
      }
      'audit_count': {
        Row: {
          'day': string
          'n': number
          'org_id': string
          'slot': string
        }
        ComputedFields: never
        Insert: {
          'day': string
          'n': number
          'org_id': string
          'slot'?: string
        }
        Update: {
          'day'?: string
          'n'?: number
          'org_id'?: string
          'slot'?: string
        }
        Relationships: []
      }
      'audit_event': {
        Row: {
          'action': string
          'actor': string | null
          'correlation_id': string | null
          'created_at': string
          'data': Json | null
          'details': string
          'entity_id': string
          'entity_type': string
          'id': number
          'org_id': string | null
          'audit_event_json': Json | null
        }
        ComputedFields: 'audit_event_json'
        Insert: {
          'action': string
          'actor'?: string | null
          'correlation_id'?: string | null
          'created_at': string
          'data'?: Json | null
          'details': string
          'entity_id': string
          'entity_type': string
          'id'?: never
          'org_id'?: string | null
        }
        Update: {
          'action'?: string
          'actor'?: string | null
          'correlation_id'?: string | null
          'created_at'?: string
          'data'?: Json | null
          'details'?: string
          'entity_id'?: string
          'entity_type'?: string
          'id'?: never
          'org_id'?: string | null
        }
        Relationships: []
      }
      'backfill_source': {
        Row: {
          'at_key': string | null
          'busy_key': string | null
          'is_bounded': boolean
          'job_id': number
          'key_parts': (string)[]
          'settings': Json | null
          'source': unknown
          'until_key': string | null
          'source_watch': Json | null
        }
        ComputedFields: 'source_watch'
        Insert: {
          'at_key'?: string | null
          'busy_key'?: string | null
          'is_bounded'?: boolean
          'job_id': number
          'key_parts': (string)[]
          'settings'?: Json | null
          'source': unknown
          'until_key'?: string | null
        }
        Update: {
          'at_key'?: string | null
          'busy_key'?: string | null
          'is_bounded'?: boolean
          'job_id'?: number
          'key_parts'?: (string)[]
          'settings'?: Json | null
          'source'?: unknown
          'until_key'?: string | null
        }
        Relationships: [
          {
            foreignKeyName: 'backfill_source_job_id_fkey'
            columns: ['job_id']
            isOneToOne: true
            referencedRelation: 'replay_job'
            referencedColumns: ['id']
          },
        ]
      }
      'binding': {
        Row: {
          'also': (string)[]
          'at': string
          'beside': (string)[]
          'database': string
          'named_by': string
          'names': (string)[]
          'only_row': boolean
          'project': string
          'stopped_at': string | null
          'stopped_project': string | null
        }
        ComputedFields: never
        Insert: {
          'also'?: (string)[]
          'at': string
          'beside'?: (string)[]
          'database': string
          'named_by': string
          'names'?: (string)[]
          'only_row'?: boolean
          'project': string
          'stopped_at'?: string | null
          'stopped_project'?: string | null
        }
        Update: {
          'also'?: (string)[]
          'at'?: string
          'beside'?: (string)[]
          'database'?: string
          'named_by'?: string
          'names'?: (string)[]
          'only_row'?: boolean
          'project'?: string
          'stopped_at'?: string | null
          'stopped_project'?: string | null
        }
        Relationships: []
      }
      'binding_change': {
        Row: {
          'action': string
          'at': string
          'by': string
          'database': string
          'id': number
          'project': string
          'result': NonNullable<Json>
          'was_database': string | null
          'was_project': string | null
        }
        ComputedFields: never
        Insert: {
          'action': string
          'at': string
          'by': string
          'database': string
          'id'?: never
          'project': string
          'result'?: NonNullable<Json>
          'was_database'?: string | null
          'was_project'?: string | null
        }
        Update: {
          'action'?: string
          'at'?: string
          'by'?: string
          'database'?: string
          'id'?: never
          'project'?: string
          'result'?: NonNullable<Json>
          'was_database'?: string | null
          'was_project'?: string | null
        }
        Relationships: []
      }
      'binding_refusal': {
        Row: {
          'at': string
          'kind': string
          'project': string | null
          'reason': string
        }
        ComputedFields: never
        Insert: {
          'at': string
          'kind': string
          'project'?: string | null
          'reason': string
        }
        Update: {
          'at'?: string
          'kind'?: string
          'project'?: string | null
          'reason'?: string
        }
        Relationships: []
      }
      'callback_count': {
        Row: {
          'kind': string
          'n': number
          'reason': string
          'shard': number
          'update_status': string
        }
        ComputedFields: never
        Insert: {
          'kind': string
          'n': number
          'reason': string
          'shard': number
          'update_status': string
        }
        Update: {
          'kind'?: string
          'n'?: number
          'reason'?: string
          'shard'?: number
          'update_status'?: string
        }
        Relationships: []
      }
      'channel_hold': {
        Row: {
          'cause': string
          'channel_id': string
          'decided_at': string
          'expires_at': string | null
          'held': boolean
          'why': string
        }
        ComputedFields: never
        Insert: {
          'cause': string
          'channel_id': string
          'decided_at': string
          'expires_at'?: string | null
          'held': boolean
          'why': string
        }
        Update: {
          'cause'?: string
          'channel_id'?: string
          'decided_at'?: string
          'expires_at'?: string | null
          'held'?: boolean
          'why'?: string
        }
        Relationships: []
      }
      'channel_kind': {
        Row: {
          'channel': string
          'check_function': string | null
          'has_templates': boolean
          'has_window': boolean
          'kind': string
        }
        ComputedFields: never
        Insert: {
          'channel': string
          'check_function'?: string | null
          'has_templates'?: boolean
          'has_window'?: boolean
          'kind': string
        }
        Update: {
          'channel'?: string
          'check_function'?: string | null
          'has_templates'?: boolean
          'has_window'?: boolean
          'kind'?: string
        }
        Relationships: [
          {
            foreignKeyName: 'channel_kind_kind_fkey'
            columns: ['kind']
            isOneToOne: true
            referencedRelation: 'endpoint_kind'
            referencedColumns: ['kind']
          },
        ]
      }
      'cleanup_progress': {
        Row: {
          'done_on': string | null
          'error': string | null
          'failed_at': string | null
          'name': string
          'piece_rows': number | null
          'swept_to': string | null
        }
        ComputedFields: never
        Insert: {
          'done_on'?: string | null
          'error'?: string | null
          'failed_at'?: string | null
          'name': string
          'piece_rows'?: number | null
          'swept_to'?: string | null
        }
        Update: {
          'done_on'?: string | null
          'error'?: string | null
          'failed_at'?: string | null
          'name'?: string
          'piece_rows'?: number | null
          'swept_to'?: string | null
        }
        Relationships: []
      }
      'cleanup_step': {
        Row: {
          'calls': string
          'is_last': boolean
          'most': number | null
          'name': string
        }
        ComputedFields: never
        Insert: {
          'calls': string
          'is_last'?: boolean
          'most'?: number | null
          'name': string
        }
        Update: {
          'calls'?: string
          'is_last'?: boolean
          'most'?: number | null
          'name'?: string
        }
        Relationships: []
      }
      'consent': {
        Row: {
          'actor': string | null
          'channel': string
          'created_at': string
          'dossier_id': string
          'evidence': string | null
          'granted': boolean
          'id': number
          'org_id': string
          'purpose': string
          'source': string
        }
        ComputedFields: never
        Insert: {
          'actor'?: string | null
          'channel': string
          'created_at': string
          'dossier_id': string
          'evidence'?: string | null
          'granted': boolean
          'id'?: never
          'org_id': string
          'purpose': string
          'source': string
        }
        Update: {
          'actor'?: string | null
          'channel'?: string
          'created_at'?: string
          'dossier_id'?: string
          'evidence'?: string | null
          'granted'?: boolean
          'id'?: never
          'org_id'?: string
          'purpose'?: string
          'source'?: string
        }
        Relationships: []
      }
      'consumer_inbox': {
        Row: {
          'accepted_at': string
          'consumer': string
          'event_id': string
        }
        ComputedFields: never
        Insert: {
          'accepted_at': string
          'consumer': string
          'event_id': string
        }
        Update: {
          'accepted_at'?: string
          'consumer'?: string
          'event_id'?: string
        }
        Relationships: []
      }
      'contract_refusal': {
        Row: {
          'at': string
          'kind': string
          'speaks': NonNullable<Json>
        }
        ComputedFields: never
        Insert: {
          'at': string
          'kind': string
          'speaks': NonNullable<Json>
        }
        Update: {
          'at'?: string
          'kind'?: string
          'speaks'?: NonNullable<Json>
        }
        Relationships: []
      }
      'conversation_window': {
        Row: {
          'channel_id': string
          'expires_at': string
          'person_id': number
        }
        ComputedFields: never
        Insert: {
          'channel_id': string
          'expires_at': string
          'person_id': number
        }
        Update: {
          'channel_id'?: string
          'expires_at'?: string
          'person_id'?: number
        }
        Relationships: []
      }
      'counter': {
        Row: {
          'labels': (string)[]
          'metric': string
          'n': number
          'total': number
        }
        ComputedFields: never
        Insert: {
          'labels': (string)[]
          'metric': string
          'n': number
          'total': number
        }
        Update: {
          'labels'?: (string)[]
          'metric'?: string
          'n'?: number
          'total'?: number
        }
        Relationships: []
      }
      'counter_change': {
        Row: {
          'at': string
          'labels': (string)[]
          'metric': string
          'n': number
          'total': number
        }
        ComputedFields: never
        Insert: {
          'at'?: string
          'labels': (string)[]
          'metric': string
          'n': number
          'total'?: number
        }
        Update: {
          'at'?: string
          'labels'?: (string)[]
          'metric'?: string
          'n'?: number
          'total'?: number
        }
        Relationships: []
      }
      'dead_letter': {
        Row: {
          'at_broker': boolean
          'attempt': number
          'correlation_id': string
          'delivered_at': string | null
          'discarded_at': string | null
          'endpoint_id': string
          'error': string
          'event_created_at': string
          'event_id': string
          'failed_at': string
          'id': string
          'idempotency_key': string | null
          'note': string | null
          'org_id': string
          'original_message': string
          'original_topic': string
          'partition_key': string | null
          'replayed_at': string | null
          'retry_count': number
          'traceparent': string | null
          'why': string
          'dead_letter_json': Json | null
          'letter_key': string | null
        }
        ComputedFields: 'dead_letter_json' | 'letter_key'
        Insert: {
          'at_broker'?: boolean
          'attempt': number
          'correlation_id': string
          'delivered_at'?: string | null
          'discarded_at'?: string | null
          'endpoint_id': string
          'error': string
          'event_created_at': string
          'event_id': string
          'failed_at': string
          'id': string
          'idempotency_key'?: string | null
          'note'?: string | null
          'org_id': string
          'original_message': string
          'original_topic': string
          'partition_key'?: string | null
          'replayed_at'?: string | null
          'retry_count': number
          'traceparent'?: string | null
          'why': string
        }
        Update: {
          'at_broker'?: boolean
          'attempt'?: number
          'correlation_id'?: string
          'delivered_at'?: string | null
          'discarded_at'?: string | null
          'endpoint_id'?: string
          'error'?: string
          'event_created_at'?: string
          'event_id'?: string
          'failed_at'?: string
          'id'?: string
          'idempotency_key'?: string | null
          'note'?: string | null
          'org_id'?: string
          'original_message'?: string
          'original_topic'?: string
          'partition_key'?: string | null
          'replayed_at'?: string | null
          'retry_count'?: number
          'traceparent'?: string | null
          'why'?: string
        }
        Relationships: []
      }
      'deleted_channel': {
        Row: {
          'app_id': string
          'channel_id': string
          'deleted_at': string
          'org_id': string
          'phone_number_id': string
          'waba_id': string
        }
        ComputedFields: never
        Insert: {
          'app_id': string
          'channel_id': string
          'deleted_at': string
          'org_id': string
          'phone_number_id': string
          'waba_id': string
        }
        Update: {
          'app_id'?: string
          'channel_id'?: string
          'deleted_at'?: string
          'org_id'?: string
          'phone_number_id'?: string
          'waba_id'?: string
        }
        Relationships: []
      }
      'delivered_mark': {
        Row: {
          'at_endpoint': string | null
          'created_at': string
          'endpoint_id': string | null
          'finished_at': string | null
          'id': number
          'left_until': string | null
          'marked': number
          'org_id': string | null
          'resume_at': string
          'routed': boolean
          'started_by': string
          'until_at': string
          'why': string
          'stop_marked': undefined | null
        }
        ComputedFields: 'stop_marked'
        Insert: {
          'at_endpoint'?: string | null
          'created_at': string
          'endpoint_id'?: string | null
          'finished_at'?: string | null
          'id'?: never
          'left_until'?: string | null
          'marked'?: number
          'org_id'?: string | null
          'resume_at'?: string
          'routed'?: boolean
          'started_by': string
          'until_at': string
          'why': string
        }
        Update: {
          'at_endpoint'?: string | null
          'created_at'?: string
          'endpoint_id'?: string | null
          'finished_at'?: string | null
          'id'?: never
          'left_until'?: string | null
          'marked'?: number
          'org_id'?: string | null
          'resume_at'?: string
          'routed'?: boolean
          'started_by'?: string
          'until_at'?: string
          'why'?: string
        }
        Relationships: []
      }
      'delivery': {
        Row: {
          'attempt': number
          'body_bytes': number
          'deliver_at': string | null
          'due_at': string
          'endpoint_id': string
          'event_id': string
          'failed_attempts': number
          'lane_id': number
          'leased_until': string | null
          'lost_before': number
          'lost_leases': number
          'rejected_secrets': (string)[] | null
          'replayed_at': string | null
          'secret_id': string | null
          'lost': Database['outbox']['CompositeTypes']['result'] | null
        }
        ComputedFields: 'lost'
        Insert: {
          'attempt'?: number
          'body_bytes': number
          'deliver_at'?: string | null
          'due_at': string
          'endpoint_id': string
          'event_id': string
          'failed_attempts'?: number
          'lane_id': number
          'leased_until'?: string | null
          'lost_before'?: number
          'lost_leases'?: number
          'rejected_secrets'?: (string)[] | null
          'replayed_at'?: string | null
          'secret_id'?: string | null
        }
        Update: {
          'attempt'?: number
          'body_bytes'?: number
          'deliver_at'?: string | null
          'due_at'?: string
          'endpoint_id'?: string
          'event_id'?: string
          'failed_attempts'?: number
          'lane_id'?: number
          'leased_until'?: string | null
          'lost_before'?: number
          'lost_leases'?: number
          'rejected_secrets'?: (string)[] | null
          'replayed_at'?: string | null
          'secret_id'?: string | null
        }
        Relationships: []
      }
      'early_report': {
        Row: {
          'at': string
          'channel_id': string
          'code': string | null
          'error': string | null
          'provider_id': string
          'received_at': string
          'status': string
        }
        ComputedFields: never
        Insert: {
          'at': string
          'channel_id': string
          'code'?: string | null
          'error'?: string | null
          'provider_id': string
          'received_at': string
          'status': string
        }
        Update: {
          'at'?: string
          'channel_id'?: string
          'code'?: string | null
          'error'?: string | null
          'provider_id'?: string
          'received_at'?: string
          'status'?: string
        }
        Relationships: []
      }
      'ended_subscription': {
        Row: {
          'began_at': string
          'ended_at': string
          'endpoint_id': string
          'filter': unknown
          'filter_weight': number
          'open_below': unknown
          'org_id': string
          'pattern': string
        }
        ComputedFields: never
        Insert: {
          'began_at': string
          'ended_at': string
          'endpoint_id': string
          'filter'?: unknown
          'filter_weight': number
          'open_below'?: unknown
          'org_id': string
          'pattern': string
        }
        Update: {
          'began_at'?: string
          'ended_at'?: string
          'endpoint_id'?: string
          'filter'?: unknown
          'filter_weight'?: number
          'open_below'?: unknown
          'org_id'?: string
          'pattern'?: string
        }
        Relationships: []
      }
      'endpoint': {
        Row: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
          'arrives_from': string | null
          'check_subscription_limits': undefined | null
          'endpoint_json': Json | null
          'endpoint_members': Json | null
          'moved_status': Json | null
          'refuse_arrival': undefined | null
          'refuse_managed': undefined | null
          'release_first': string | null
          'retry_config_json': Json | null
          'rewrite_command': string | null
          'why_endpoint_rests': string | null
          'why_endpoint_stays': string | null
        }
        ComputedFields:
          | 'arrives_from'
          | 'check_subscription_limits'
          | 'endpoint_json'
          | 'endpoint_members'
          | 'moved_status'
          | 'refuse_arrival'
          | 'refuse_managed'
          | 'release_first'
          | 'retry_config_json'
          | 'rewrite_command'
          | 'why_endpoint_rests'
          | 'why_endpoint_stays'
        Insert: {
          'breaker_enabled'?: boolean
          'breaker_open_ms'?: number
          'breaker_threshold'?: number
          'config'?: Json | null
          'created_at': string
          'credentials_vault_id'?: string | null
          'description'?: string
          'header_names'?: (string)[]
          'headers_vault_id'?: string | null
          'id'?: string
          'is_purged'?: boolean
          'kind'?: string
          'lane_spacing_ms'?: number
          'max_in_flight'?: number
          'on_dead_letter'?: string
          'ordering'?: string
          'org_id': string
          'payload'?: string
          'quantum'?: number
          'ramp_from'?: string
          'rate_burst'?: number
          'rate_per_second'?: number | null
          'retry'?: Json | null
          'retry_4xx'?: boolean
          'status'?: string
          'status_reason'?: string | null
          'timeout_ms'?: number
          'updated_at': string
          'url': string
          'version'?: number
        }
        Update: {
          'breaker_enabled'?: boolean
          'breaker_open_ms'?: number
          'breaker_threshold'?: number
          'config'?: Json | null
          'created_at'?: string
          'credentials_vault_id'?: string | null
          'description'?: string
          'header_names'?: (string)[]
          'headers_vault_id'?: string | null
          'id'?: string
          'is_purged'?: boolean
          'kind'?: string
          'lane_spacing_ms'?: number
          'max_in_flight'?: number
          'on_dead_letter'?: string
          'ordering'?: string
          'org_id'?: string
          'payload'?: string
          'quantum'?: number
          'ramp_from'?: string
          'rate_burst'?: number
          'rate_per_second'?: number | null
          'retry'?: Json | null
          'retry_4xx'?: boolean
          'status'?: string
          'status_reason'?: string | null
          'timeout_ms'?: number
          'updated_at'?: string
          'url'?: string
          'version'?: number
        }
        Relationships: [
          {
            foreignKeyName: 'endpoint_kind_is_known'
            columns: ['kind']
            isOneToOne: false
            referencedRelation: 'endpoint_kind'
            referencedColumns: ['kind']
          },
        ]
      }
      'endpoint_kind': {
        Row: {
          'change_function': string | null
          'create_function': string | null
          'credentials_remedy': string | null
          'is_cached': boolean
          'kind': string
          'managed_as': string | null
          'managed_at': string | null
          'pauses_on_hold': boolean
          'response_class': string | null
          'retry': NonNullable<Json>
          'rewrite_command': string | null
        }
        ComputedFields: never
        Insert: {
          'change_function'?: string | null
          'create_function'?: string | null
          'credentials_remedy'?: string | null
          'is_cached'?: boolean
          'kind': string
          'managed_as'?: string | null
          'managed_at'?: string | null
          'pauses_on_hold'?: boolean
          'response_class'?: string | null
          'retry': NonNullable<Json>
          'rewrite_command'?: string | null
        }
        Update: {
          'change_function'?: string | null
          'create_function'?: string | null
          'credentials_remedy'?: string | null
          'is_cached'?: boolean
          'kind'?: string
          'managed_as'?: string | null
          'managed_at'?: string | null
          'pauses_on_hold'?: boolean
          'response_class'?: string | null
          'retry'?: NonNullable<Json>
          'rewrite_command'?: string | null
        }
        Relationships: []
      }
      'endpoint_refusal': {
        Row: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'failures': number
          'sqlstate': string
        }
        ComputedFields: never
        Insert: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'failures': number
          'sqlstate': string
        }
        Update: {
          'again_at'?: string
          'at'?: string
          'endpoint_id'?: string
          'error'?: string
          'failures'?: number
          'sqlstate'?: string
        }
        Relationships: []
      }
      'endpoint_secret': {
        Row: {
          'created_at': string
          'endpoint_id': string
          'expires_at': string | null
          'id': string
          'public_key': string | null
          'scheme': string
          'vault_id': string
        }
        ComputedFields: never
        Insert: {
          'created_at': string
          'endpoint_id': string
          'expires_at'?: string | null
          'id'?: string
          'public_key'?: string | null
          'scheme'?: string
          'vault_id': string
        }
        Update: {
          'created_at'?: string
          'endpoint_id'?: string
          'expires_at'?: string | null
          'id'?: string
          'public_key'?: string | null
          'scheme'?: string
          'vault_id'?: string
        }
        Relationships: []
      }
      'error_hint': {
        Row: {
          'error_class': string
          'hint': string
        }
        ComputedFields: never
        Insert: {
          'error_class': string
          'hint': string
        }
        Update: {
          'error_class'?: string
          'hint'?: string
        }
        Relationships: []
      }
      'event': {
        Row: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
          'check_addressed': undefined | null
          'check_unordered': undefined | null
          'claim_idempotency_key': string | null
          'event_content': string | null
          'event_json': Json | null
          'put_carried_event': string | null
        }
        ComputedFields:
          | 'check_addressed'
          | 'check_unordered'
          | 'claim_idempotency_key'
          | 'event_content'
          | 'event_json'
          | 'put_carried_event'
        Insert: {
          'body': string
          'correlation_id'?: string | null
          'created_at': string
          'deliver_at'?: string | null
          'endpoint_id'?: string | null
          'id': string
          'idempotency_key'?: string | null
          'org_id': string
          'partition_key'?: string | null
          'traceparent'?: string | null
          'type': string
        }
        Update: {
          'body'?: string
          'correlation_id'?: string | null
          'created_at'?: string
          'deliver_at'?: string | null
          'endpoint_id'?: string | null
          'id'?: string
          'idempotency_key'?: string | null
          'org_id'?: string
          'partition_key'?: string | null
          'traceparent'?: string | null
          'type'?: string
        }
        Relationships: []
      }
      'event_bytes': {
        Row: {
          'bytes': number
          'day': string
          'org_id': string
          'spent_until': string
        }
        ComputedFields: never
        Insert: {
          'bytes': number
          'day': string
          'org_id': string
          'spent_until'?: string
        }
        Update: {
          'bytes'?: number
          'day'?: string
          'org_id'?: string
          'spent_until'?: string
        }
        Relationships: []
      }
      'event_catalogue': {
        Row: {
          'changes': number
          'org_id': string
          'strict': boolean
          'version': number
        }
        ComputedFields: never
        Insert: {
          'changes'?: number
          'org_id': string
          'strict'?: boolean
          'version'?: number
        }
        Update: {
          'changes'?: number
          'org_id'?: string
          'strict'?: boolean
          'version'?: number
        }
        Relationships: []
      }
      'event_default': {
        Row: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }
        ComputedFields: never
        Insert: {
          'body': string
          'correlation_id'?: string | null
          'created_at': string
          'deliver_at'?: string | null
          'endpoint_id'?: string | null
          'id': string
          'idempotency_key'?: string | null
          'org_id': string
          'partition_key'?: string | null
          'traceparent'?: string | null
          'type': string
        }
        Update: {
          'body'?: string
          'correlation_id'?: string | null
          'created_at'?: string
          'deliver_at'?: string | null
          'endpoint_id'?: string | null
          'id'?: string
          'idempotency_key'?: string | null
          'org_id'?: string
          'partition_key'?: string | null
          'traceparent'?: string | null
          'type'?: string
        }
        Relationships: []
      }
      'event_type': {
        Row: {
          'created_at': string
          'description': string
          'org_id': string
          'schema': Json | null
          'type': string
          'updated_at': string
          'event_type_json': Json | null
        }
        ComputedFields: 'event_type_json'
        Insert: {
          'created_at': string
          'description'?: string
          'org_id': string
          'schema'?: Json | null
          'type': string
          'updated_at': string
        }
        Update: {
          'created_at'?: string
          'description'?: string
          'org_id'?: string
          'schema'?: Json | null
          'type'?: string
          'updated_at'?: string
        }
        Relationships: []
      }
      'event_type_change': {
        Row: {
          'action': string
          'actor': string | null
          'created_at': string
          'difference': NonNullable<Json>
          'id': number
          'org_id': string
          'type': string
        }
        ComputedFields: never
        Insert: {
          'action': string
          'actor'?: string | null
          'created_at': string
          'difference': NonNullable<Json>
          'id'?: never
          'org_id': string
          'type': string
        }
        Update: {
          'action'?: string
          'actor'?: string | null
          'created_at'?: string
          'difference'?: NonNullable<Json>
          'id'?: never
          'org_id'?: string
          'type'?: string
        }
        Relationships: []
      }
      'failure_rule': {
        Row: {
          'action': string
          'code': string
          'firm': boolean
          'kind': string
          'max_retries': number | null
          'min_delay_s': number
          'new_token': boolean
          'note': string
          'of_recipient': boolean
          'opt_out': string | null
          'scope': string
          'title': string
        }
        ComputedFields: never
        Insert: {
          'action': string
          'code': string
          'firm'?: boolean
          'kind': string
          'max_retries'?: number | null
          'min_delay_s'?: number
          'new_token'?: boolean
          'note'?: string
          'of_recipient'?: boolean
          'opt_out'?: string | null
          'scope'?: string
          'title': string
        }
        Update: {
          'action'?: string
          'code'?: string
          'firm'?: boolean
          'kind'?: string
          'max_retries'?: number | null
          'min_delay_s'?: number
          'new_token'?: boolean
          'note'?: string
          'of_recipient'?: boolean
          'opt_out'?: string | null
          'scope'?: string
          'title'?: string
        }
        Relationships: []
      }
      'gate': {
        Row: {
          'breaker': string
          'changed_at': string
          'depth': number
          'endpoint_id': string
          'first_failure_at': string | null
          'id': number
          'in_flight': number
          'isolated_at': string
          'lanes_from': string
          'last_timed_out': boolean
          'next_at': string
          'not_before': string
          'open_until': string
          'org_id': string
          'probe_attempt': number | null
          'probe_event': string | null
          'ramp_from': string
          'secret_id': string | null
          'streak': number
          'tokens': number
          'tokens_at': string
        }
        ComputedFields: never
        Insert: {
          'breaker'?: string
          'changed_at'?: string
          'depth'?: number
          'endpoint_id': string
          'first_failure_at'?: string | null
          'id'?: never
          'in_flight'?: number
          'isolated_at'?: string
          'lanes_from'?: string
          'last_timed_out'?: boolean
          'next_at'?: string
          'not_before'?: string
          'open_until'?: string
          'org_id': string
          'probe_attempt'?: number | null
          'probe_event'?: string | null
          'ramp_from'?: string
          'secret_id'?: string | null
          'streak'?: number
          'tokens'?: number
          'tokens_at'?: string
        }
        Update: {
          'breaker'?: string
          'changed_at'?: string
          'depth'?: number
          'endpoint_id'?: string
          'first_failure_at'?: string | null
          'id'?: never
          'in_flight'?: number
          'isolated_at'?: string
          'lanes_from'?: string
          'last_timed_out'?: boolean
          'next_at'?: string
          'not_before'?: string
          'open_until'?: string
          'org_id'?: string
          'probe_attempt'?: number | null
          'probe_event'?: string | null
          'ramp_from'?: string
          'secret_id'?: string | null
          'streak'?: number
          'tokens'?: number
          'tokens_at'?: string
        }
        Relationships: []
      }
      'idempotency_key': {
        Row: {
          'content': string
          'created_at': string
          'event_id': string
          'key': string
          'org_id': string
        }
        ComputedFields: never
        Insert: {
          'content': string
          'created_at': string
          'event_id': string
          'key': string
          'org_id': string
        }
        Update: {
          'content'?: string
          'created_at'?: string
          'event_id'?: string
          'key'?: string
          'org_id'?: string
        }
        Relationships: []
      }
      'inbound_message': {
        Row: {
          'channel_id': string
          'erased_at': string | null
          'id': number
          'org_id': string
          'payload': NonNullable<Json>
          'person_id': number | null
          'phone_number_id': string
          'received_at': string
          'reply_to': number | null
          'sent_at': string
          'text': string | null
          'type': string
          'wamid': string | null
          'inbound_json': Json | null
        }
        ComputedFields: 'inbound_json'
        Insert: {
          'channel_id': string
          'erased_at'?: string | null
          'id'?: never
          'org_id': string
          'payload': NonNullable<Json>
          'person_id'?: number | null
          'phone_number_id': string
          'received_at': string
          'reply_to'?: number | null
          'sent_at': string
          'text'?: string | null
          'type': string
          'wamid'?: string | null
        }
        Update: {
          'channel_id'?: string
          'erased_at'?: string | null
          'id'?: never
          'org_id'?: string
          'payload'?: NonNullable<Json>
          'person_id'?: number | null
          'phone_number_id'?: string
          'received_at'?: string
          'reply_to'?: number | null
          'sent_at'?: string
          'text'?: string | null
          'type'?: string
          'wamid'?: string | null
        }
        Relationships: []
      }
      'installed_module': {
        Row: {
          'changed_at': string
          'installed_at': string
          'name': string
          'version': string
        }
        ComputedFields: never
        Insert: {
          'changed_at': string
          'installed_at': string
          'name': string
          'version': string
        }
        Update: {
          'changed_at'?: string
          'installed_at'?: string
          'name'?: string
          'version'?: string
        }
        Relationships: []
      }
      'isolation': {
        Row: {
          'attempt': number | null
          'claimed_at': string | null
          'drains_from': string | null
          'endpoint_id': string | null
          'event_id': string | null
          'run_id': string
        }
        ComputedFields: never
        Insert: {
          'attempt'?: number | null
          'claimed_at'?: string | null
          'drains_from'?: string | null
          'endpoint_id'?: string | null
          'event_id'?: string | null
          'run_id': string
        }
        Update: {
          'attempt'?: number | null
          'claimed_at'?: string | null
          'drains_from'?: string | null
          'endpoint_id'?: string | null
          'event_id'?: string | null
          'run_id'?: string
        }
        Relationships: []
      }
      'lane': {
        Row: {
          'changed_at': string
          'depth': number
          'gate_id': number
          'halted': boolean
          'head_at': string
          'id': number
          'isolated': boolean
          'key_hash': number
          'leased': number
          'leased_until': string | null
          'next_at': string
          'not_before': string
          'ordered': boolean
          'tail_at': string
        }
        ComputedFields: never
        Insert: {
          'changed_at'?: string
          'depth'?: number
          'gate_id': number
          'halted'?: boolean
          'head_at'?: string
          'id'?: never
          'isolated'?: boolean
          'key_hash'?: number
          'leased'?: number
          'leased_until'?: string | null
          'next_at'?: string
          'not_before'?: string
          'ordered': boolean
          'tail_at'?: string
        }
        Update: {
          'changed_at'?: string
          'depth'?: number
          'gate_id'?: number
          'halted'?: boolean
          'head_at'?: string
          'id'?: never
          'isolated'?: boolean
          'key_hash'?: number
          'leased'?: number
          'leased_until'?: string | null
          'next_at'?: string
          'not_before'?: string
          'ordered'?: boolean
          'tail_at'?: string
        }
        Relationships: []
      }
      'lane_refusal': {
        Row: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'failures': number
          'lane_id': number
          'sqlstate': string
        }
        ComputedFields: never
        Insert: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'failures': number
          'lane_id': number
          'sqlstate': string
        }
        Update: {
          'again_at'?: string
          'at'?: string
          'endpoint_id'?: string
          'error'?: string
          'failures'?: number
          'lane_id'?: number
          'sqlstate'?: string
        }
        Relationships: []
      }
      'limit_turn': {
        Row: {
          'name': string
          'org_id': string
          'turn': number
        }
        ComputedFields: never
        Insert: {
          'name': string
          'org_id': string
          'turn'?: number
        }
        Update: {
          'name'?: string
          'org_id'?: string
          'turn'?: number
        }
        Relationships: []
      }
      'message_attempt': {
        Row: {
          'arrived_at': string | null
          'attempt_no': number
          'claim': number
          'created_at': string
          'delivered_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'failed_at': string | null
          'id': number
          'message_id': number
          'next_retry_at': string | null
          'phone_number_id': string
          'provider_response': Json | null
          'read_at': string | null
          'sent_at': string | null
          'status': string
          'taken_at': string | null
          'updated_at': string
          'wamid': string | null
        }
        ComputedFields: never
        Insert: {
          'arrived_at'?: string | null
          'attempt_no': number
          'claim': number
          'created_at': string
          'delivered_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'event_id': string
          'failed_at'?: string | null
          'id'?: never
          'message_id': number
          'next_retry_at'?: string | null
          'phone_number_id': string
          'provider_response'?: Json | null
          'read_at'?: string | null
          'sent_at'?: string | null
          'status': string
          'taken_at'?: string | null
          'updated_at': string
          'wamid'?: string | null
        }
        Update: {
          'arrived_at'?: string | null
          'attempt_no'?: number
          'claim'?: number
          'created_at'?: string
          'delivered_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'event_id'?: string
          'failed_at'?: string | null
          'id'?: never
          'message_id'?: number
          'next_retry_at'?: string | null
          'phone_number_id'?: string
          'provider_response'?: Json | null
          'read_at'?: string | null
          'sent_at'?: string | null
          'status'?: string
          'taken_at'?: string | null
          'updated_at'?: string
          'wamid'?: string | null
        }
        Relationships: []
      }
      'message_channel': {
        Row: {
          'account': string
          'channel': string
          'created_at': string
          'endpoint_id': string
          'org_id': string
        }
        ComputedFields: never
        Insert: {
          'account': string
          'channel': string
          'created_at': string
          'endpoint_id': string
          'org_id': string
        }
        Update: {
          'account'?: string
          'channel'?: string
          'created_at'?: string
          'endpoint_id'?: string
          'org_id'?: string
        }
        Relationships: []
      }
      'move_part': {
        Row: {
          'name': string
          'page_rows': number | null
          'position': number | null
          'read_function': string | null
          'write_function': string | null
        }
        ComputedFields: never
        Insert: {
          'name': string
          'page_rows'?: number | null
          'position'?: number | null
          'read_function'?: string | null
          'write_function'?: string | null
        }
        Update: {
          'name'?: string
          'page_rows'?: number | null
          'position'?: number | null
          'read_function'?: string | null
          'write_function'?: string | null
        }
        Relationships: []
      }
      'notice_rule': {
        Row: {
          'action': string
          'cause': string
          'event': string
          'field': string
          'title': string
        }
        ComputedFields: never
        Insert: {
          'action': string
          'cause': string
          'event': string
          'field': string
          'title': string
        }
        Update: {
          'action'?: string
          'cause'?: string
          'event'?: string
          'field'?: string
          'title'?: string
        }
        Relationships: []
      }
      'opt_out': {
        Row: {
          'channel': string
          'created_at': string
          'decided_at': string
          'evidence': string | null
          'lifted': boolean
          'org_id': string
          'person_id': number
          'purpose': string
          'said_at': string
          'said_by': string | null
          'source': string
          'wamid': string | null
          'words': string | null
          'opt_out_json': Json | null
        }
        ComputedFields: 'opt_out_json'
        Insert: {
          'channel': string
          'created_at': string
          'decided_at': string
          'evidence'?: string | null
          'lifted'?: boolean
          'org_id': string
          'person_id': number
          'purpose': string
          'said_at': string
          'said_by'?: string | null
          'source': string
          'wamid'?: string | null
          'words'?: string | null
        }
        Update: {
          'channel'?: string
          'created_at'?: string
          'decided_at'?: string
          'evidence'?: string | null
          'lifted'?: boolean
          'org_id'?: string
          'person_id'?: number
          'purpose'?: string
          'said_at'?: string
          'said_by'?: string | null
          'source'?: string
          'wamid'?: string | null
          'words'?: string | null
        }
        Relationships: []
      }
      'org_move': {
        Row: {
          'changed_at': string
          'endpoints': NonNullable<Json>
          'move_id': string
          'org_id': string
          'other': string
          'other_database': string | null
          'role': string
          'run_id': string | null
          'settled_at': unknown
          'started_at': string
          'status': string
          'move_reason': string | null
          'move_sentence': string | null
          'pause_for_move': undefined | null
        }
        ComputedFields: 'move_reason' | 'move_sentence' | 'pause_for_move'
        Insert: {
          'changed_at': string
          'endpoints'?: NonNullable<Json>
          'move_id': string
          'org_id': string
          'other': string
          'other_database'?: string | null
          'role': string
          'run_id'?: string | null
          'settled_at'?: unknown
          'started_at': string
          'status': string
        }
        Update: {
          'changed_at'?: string
          'endpoints'?: NonNullable<Json>
          'move_id'?: string
          'org_id'?: string
          'other'?: string
          'other_database'?: string | null
          'role'?: string
          'run_id'?: string | null
          'settled_at'?: unknown
          'started_at'?: string
          'status'?: string
        }
        Relationships: []
      }
      'org_setting': {
        Row: {
          'name': string
          'org_id': string
          'updated_at': string
          'value': NonNullable<Json>
        }
        ComputedFields: never
        Insert: {
          'name': string
          'org_id': string
          'updated_at': string
          'value': NonNullable<Json>
        }
        Update: {
          'name'?: string
          'org_id'?: string
          'updated_at'?: string
          'value'?: NonNullable<Json>
        }
        Relationships: []
      }
      'outbound_message': {
        Row: {
          'attempt_count': number
          'category': string
          'channel': string
          'channel_id': string
          'content': string
          'copies': number
          'correlation_id': string | null
          'created_at': string
          'created_by': string | null
          'delivered_at': string | null
          'dossier_id': string | null
          'erased_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'id': number
          'idempotency_key': string
          'max_attempts': number
          'org_id': string
          'payload_json': NonNullable<Json>
          'provider_message_id': string | null
          'read_at': string | null
          'recipient_hash': string | null
          'sent_at': string | null
          'status': string
          'template_code': string | null
          'to_recipient': string
          'updated_at': string
          'wa_id': string | null
          'check_message': undefined | null
          'find_message_by_key': {
            'attempt_count': number
            'category': string
            'channel': string
            'channel_id': string
            'content': string
            'copies': number
            'correlation_id': string | null
            'created_at': string
            'created_by': string | null
            'delivered_at': string | null
            'dossier_id': string | null
            'erased_at': string | null
            'error_code': string | null
            'error_message': string | null
            'event_id': string
            'id': number
            'idempotency_key': string
            'max_attempts': number
            'org_id': string
            'payload_json': NonNullable<Json>
            'provider_message_id': string | null
            'read_at': string | null
            'recipient_hash': string | null
            'sent_at': string | null
            'status': string
            'template_code': string | null
            'to_recipient': string
            'updated_at': string
            'wa_id': string | null
          } | null
          'is_template_held': boolean | null
          'message_hash': string | null
          'message_json': Json | null
        }
        ComputedFields:
          | 'check_message'
          | 'find_message_by_key'
          | 'is_template_held'
          | 'message_hash'
          | 'message_json'
        Insert: {
          'attempt_count'?: number
          'category': string
          'channel': string
          'channel_id': string
          'content': string
          'copies'?: number
          'correlation_id'?: string | null
          'created_at': string
          'created_by'?: string | null
          'delivered_at'?: string | null
          'dossier_id'?: string | null
          'erased_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'event_id': string
          'id'?: never
          'idempotency_key': string
          'max_attempts'?: number
          'org_id': string
          'payload_json': NonNullable<Json>
          'provider_message_id'?: string | null
          'read_at'?: string | null
          'recipient_hash'?: string | null
          'sent_at'?: string | null
          'status'?: string
          'template_code'?: string | null
          'to_recipient': string
          'updated_at': string
          'wa_id'?: string | null
        }
        Update: {
          'attempt_count'?: number
          'category'?: string
          'channel'?: string
          'channel_id'?: string
          'content'?: string
          'copies'?: number
          'correlation_id'?: string | null
          'created_at'?: string
          'created_by'?: string | null
          'delivered_at'?: string | null
          'dossier_id'?: string | null
          'erased_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'event_id'?: string
          'id'?: never
          'idempotency_key'?: string
          'max_attempts'?: number
          'org_id'?: string
          'payload_json'?: NonNullable<Json>
          'provider_message_id'?: string | null
          'read_at'?: string | null
          'recipient_hash'?: string | null
          'sent_at'?: string | null
          'status'?: string
          'template_code'?: string | null
          'to_recipient'?: string
          'updated_at'?: string
          'wa_id'?: string | null
        }
        Relationships: []
      }
      'partition_check': {
        Row: {
          'checked_on': string
          'clean_nights': number
          'name': string
        }
        ComputedFields: never
        Insert: {
          'checked_on': string
          'clean_nights': number
          'name': string
        }
        Update: {
          'checked_on'?: string
          'clean_nights'?: number
          'name'?: string
        }
        Relationships: []
      }
      'person': {
        Row: {
          'erased_at': string | null
          'first_seen_at': string
          'id': number
          'lane_keys': (string)[]
          'last_seen_at': string
          'name': string | null
          'org_id': string
          'parent_user_id': string | null
          'username': string | null
        }
        ComputedFields: never
        Insert: {
          'erased_at'?: string | null
          'first_seen_at': string
          'id'?: number
          'lane_keys'?: (string)[]
          'last_seen_at': string
          'name'?: string | null
          'org_id': string
          'parent_user_id'?: string | null
          'username'?: string | null
        }
        Update: {
          'erased_at'?: string | null
          'first_seen_at'?: string
          'id'?: number
          'lane_keys'?: (string)[]
          'last_seen_at'?: string
          'name'?: string | null
          'org_id'?: string
          'parent_user_id'?: string | null
          'username'?: string | null
        }
        Relationships: []
      }
      'person_identifier': {
        Row: {
          'created_at': string
          'kind': string
          'left_at': string | null
          'left_to': number | null
          'org_id': string
          'parted_at': string | null
          'person_id': number
          'value': string
        }
        ComputedFields: never
        Insert: {
          'created_at': string
          'kind': string
          'left_at'?: string | null
          'left_to'?: number | null
          'org_id': string
          'parted_at'?: string | null
          'person_id': number
          'value': string
        }
        Update: {
          'created_at'?: string
          'kind'?: string
          'left_at'?: string | null
          'left_to'?: number | null
          'org_id'?: string
          'parted_at'?: string | null
          'person_id'?: number
          'value'?: string
        }
        Relationships: []
      }
      'portal_generation': {
        Row: {
          'generation': number
          'org_id': string
          'revoked_at': string
        }
        ComputedFields: never
        Insert: {
          'generation': number
          'org_id': string
          'revoked_at': string
        }
        Update: {
          'generation'?: number
          'org_id'?: string
          'revoked_at'?: string
        }
        Relationships: []
      }
      'portal_token_count': {
        Row: {
          'day': string
          'n': number
          'org_id': string
        }
        ComputedFields: never
        Insert: {
          'day': string
          'n': number
          'org_id': string
        }
        Update: {
          'day'?: string
          'n'?: number
          'org_id'?: string
        }
        Relationships: []
      }
      'refusal': {
        Row: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'event_id': string
          'failures': number
          'sqlstate': string
          'step': string
        }
        ComputedFields: never
        Insert: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'event_id': string
          'failures': number
          'sqlstate': string
          'step': string
        }
        Update: {
          'again_at'?: string
          'at'?: string
          'endpoint_id'?: string
          'error'?: string
          'event_id'?: string
          'failures'?: number
          'sqlstate'?: string
          'step'?: string
        }
        Relationships: []
      }
      'replay_job': {
        Row: {
          'after_xid': unknown
          'at_failed': string
          'at_id': string
          'begun_at': string | null
          'by_api': boolean
          'by_subscription': boolean
          'created_at': string
          'endpoint_id': string | null
          'error': string | null
          'event_type': string | null
          'except_type': string | null
          'failed_from': string | null
          'failed_to': string
          'filter': string | null
          'finished_at': string | null
          'id': number
          'include_delivered': boolean
          'looked': number
          'org_id': string | null
          'rate_per_second': number
          'replayed': number
          'skipped': number
          'source': string
          'status': string
          'total': number | null
          'types': (string)[] | null
          'until_at': string | null
          'waits_for': string | null
          'worked_at': string | null
          'job_filter': Database['outbox']['CompositeTypes']['filter'] | null
          'replay_job_json': Json | null
        }
        ComputedFields: 'job_filter' | 'replay_job_json'
        Insert: {
          'after_xid'?: unknown
          'at_failed'?: string
          'at_id'?: string
          'begun_at'?: string | null
          'by_api'?: boolean
          'by_subscription'?: boolean
          'created_at': string
          'endpoint_id'?: string | null
          'error'?: string | null
          'event_type'?: string | null
          'except_type'?: string | null
          'failed_from'?: string | null
          'failed_to': string
          'filter'?: string | null
          'finished_at'?: string | null
          'id'?: never
          'include_delivered'?: boolean
          'looked'?: number
          'org_id'?: string | null
          'rate_per_second': number
          'replayed'?: number
          'skipped'?: number
          'source'?: string
          'status'?: string
          'total'?: number | null
          'types'?: (string)[] | null
          'until_at'?: string | null
          'waits_for'?: string | null
          'worked_at'?: string | null
        }
        Update: {
          'after_xid'?: unknown
          'at_failed'?: string
          'at_id'?: string
          'begun_at'?: string | null
          'by_api'?: boolean
          'by_subscription'?: boolean
          'created_at'?: string
          'endpoint_id'?: string | null
          'error'?: string | null
          'event_type'?: string | null
          'except_type'?: string | null
          'failed_from'?: string | null
          'failed_to'?: string
          'filter'?: string | null
          'finished_at'?: string | null
          'id'?: never
          'include_delivered'?: boolean
          'looked'?: number
          'org_id'?: string | null
          'rate_per_second'?: number
          'replayed'?: number
          'skipped'?: number
          'source'?: string
          'status'?: string
          'total'?: number | null
          'types'?: (string)[] | null
          'until_at'?: string | null
          'waits_for'?: string | null
          'worked_at'?: string | null
        }
        Relationships: []
      }
      'reply_word': {
        Row: {
          'action': string
          'language': string
          'org_id': string
          'word': string
        }
        ComputedFields: never
        Insert: {
          'action': string
          'language': string
          'org_id'?: string
          'word': string
        }
        Update: {
          'action'?: string
          'language'?: string
          'org_id'?: string
          'word'?: string
        }
        Relationships: []
      }
      'request_bucket': {
        Row: {
          'filled_at': string
          'org_id': string
          'tokens': number
        }
        ComputedFields: never
        Insert: {
          'filled_at': string
          'org_id': string
          'tokens': number
        }
        Update: {
          'filled_at'?: string
          'org_id'?: string
          'tokens'?: number
        }
        Relationships: []
      }
      'request_key': {
        Row: {
          'content': string
          'created_at': string
          'key': string
          'org_id': string
          'response': Json | null
          'route': string
        }
        ComputedFields: never
        Insert: {
          'content': string
          'created_at': string
          'key': string
          'org_id': string
          'response'?: Json | null
          'route': string
        }
        Update: {
          'content'?: string
          'created_at'?: string
          'key'?: string
          'org_id'?: string
          'response'?: Json | null
          'route'?: string
        }
        Relationships: []
      }
      'revoked_portal_token': {
        Row: {
          'id': string
          'org_id': string
          'revoked_at': string
        }
        ComputedFields: never
        Insert: {
          'id': string
          'org_id': string
          'revoked_at': string
        }
        Update: {
          'id'?: string
          'org_id'?: string
          'revoked_at'?: string
        }
        Relationships: []
      }
      'ring': {
        Row: {
          'from_at': string
        }
        ComputedFields: never
        Insert: {
          'from_at'?: string
        }
        Update: {
          'from_at'?: string
        }
        Relationships: []
      }
      'router': {
        Row: {
          'batch': number
          'last_org': string
          'open_xids': (unknown)[]
          'seen_below': unknown
          'shared_at': string
          'turn': number
          'watermark': string
          'has_new': boolean | null
          'is_for_new': boolean | null
          'new_parts': Record<string, unknown> | null
          'next_unrouted': (string)[] | null
          'oldest_new': string | null
          'oldest_unrouted': string | null
          'read_above': Database['outbox']['CompositeTypes']['unread'] | null
          'read_late': Database['outbox']['CompositeTypes']['unread'] | null
          'read_new': Database['outbox']['CompositeTypes']['routing'] | null
        }
        ComputedFields:
          | 'has_new'
          | 'is_for_new'
          | 'new_parts'
          | 'next_unrouted'
          | 'oldest_new'
          | 'oldest_unrouted'
          | 'read_above'
          | 'read_late'
          | 'read_new'
        Insert: {
          'batch'?: number
          'last_org'?: string
          'open_xids'?: (unknown)[]
          'seen_below'?: unknown
          'shared_at'?: string
          'turn'?: number
          'watermark'?: string
        }
        Update: {
          'batch'?: number
          'last_org'?: string
          'open_xids'?: (unknown)[]
          'seen_below'?: unknown
          'shared_at'?: string
          'turn'?: number
          'watermark'?: string
        }
        Relationships: []
      }
      'routing_timeout': {
        Row: {
          'error': string
          'events': (string)[] | null
          'id': number
        }
        ComputedFields: never
        Insert: {
          'error': string
          'events'?: (string)[] | null
          'id'?: never
        }
        Update: {
          'error'?: string
          'events'?: (string)[] | null
          'id'?: never
        }
        Relationships: []
      }
      'run': {
        Row: {
          'ended_at': string | null
          'id': string
          'kind': string
          'kinds': (string)[] | null
          'polled_at': string
          'started_at': string
          'worker': Json | null
        }
        ComputedFields: never
        Insert: {
          'ended_at'?: string | null
          'id': string
          'kind': string
          'kinds'?: (string)[] | null
          'polled_at': string
          'started_at': string
          'worker'?: Json | null
        }
        Update: {
          'ended_at'?: string | null
          'id'?: string
          'kind'?: string
          'kinds'?: (string)[] | null
          'polled_at'?: string
          'started_at'?: string
          'worker'?: Json | null
        }
        Relationships: []
      }
      'run_batch': {
        Row: {
          'at': string
          'attempts': (number)[]
          'endpoints': (string)[]
          'events': (string)[]
          'run_id': string
          'seq': number
        }
        ComputedFields: never
        Insert: {
          'at': string
          'attempts'?: (number)[]
          'endpoints'?: (string)[]
          'events'?: (string)[]
          'run_id': string
          'seq': number
        }
        Update: {
          'at'?: string
          'attempts'?: (number)[]
          'endpoints'?: (string)[]
          'events'?: (string)[]
          'run_id'?: string
          'seq'?: number
        }
        Relationships: []
      }
      'saga': {
        Row: {
          'by_tokens': boolean
          'created_at': string
          'name': string
          'saga_json': Json | null
        }
        ComputedFields: 'saga_json'
        Insert: {
          'by_tokens'?: boolean
          'created_at': string
          'name': string
        }
        Update: {
          'by_tokens'?: boolean
          'created_at'?: string
          'name'?: string
        }
        Relationships: []
      }
      'saga_key': {
        Row: {
          'content': string
          'created_at': string
          'key': string
          'org_id': string
          'result': Json | null
          'saga': string
        }
        ComputedFields: never
        Insert: {
          'content': string
          'created_at': string
          'key': string
          'org_id': string
          'result'?: Json | null
          'saga': string
        }
        Update: {
          'content'?: string
          'created_at'?: string
          'key'?: string
          'org_id'?: string
          'result'?: Json | null
          'saga'?: string
        }
        Relationships: []
      }
      'saga_step': {
        Row: {
          'event_type': string
          'function': string
          'position': number
          'saga': string
        }
        ComputedFields: never
        Insert: {
          'event_type': string
          'function': string
          'position': number
          'saga': string
        }
        Update: {
          'event_type'?: string
          'function'?: string
          'position'?: number
          'saga'?: string
        }
        Relationships: [
          {
            foreignKeyName: 'saga_step_saga_fkey'
            columns: ['saga']
            isOneToOne: false
            referencedRelation: 'saga'
            referencedColumns: ['name']
          },
        ]
      }
      'setting': {
        Row: {
          'by_org': boolean
          'description': string
          'form': string | null
          'form_problem': string | null
          'highest': number | null
          'is_url': boolean
          'lowest': number | null
          'name': string
          'type': string
          'updated_at': string
          'value': NonNullable<Json>
        }
        ComputedFields: never
        Insert: {
          'by_org'?: boolean
          'description': string
          'form'?: string | null
          'form_problem'?: string | null
          'highest'?: number | null
          'is_url'?: boolean
          'lowest'?: number | null
          'name': string
          'type': string
          'updated_at'?: string
          'value': NonNullable<Json>
        }
        Update: {
          'by_org'?: boolean
          'description'?: string
          'form'?: string | null
          'form_problem'?: string | null
          'highest'?: number | null
          'is_url'?: boolean
          'lowest'?: number | null
          'name'?: string
          'type'?: string
          'updated_at'?: string
          'value'?: NonNullable<Json>
        }
        Relationships: []
      }
      'setting_rule': {
        Row: {
          'less': string
          'more': string
          'per_less': number
          'per_more': number
          'problem': string
          'spare': number
        }
        ComputedFields: never
        Insert: {
          'less': string
          'more': string
          'per_less'?: number
          'per_more'?: number
          'problem': string
          'spare'?: number
        }
        Update: {
          'less'?: string
          'more'?: string
          'per_less'?: number
          'per_more'?: number
          'problem'?: string
          'spare'?: number
        }
        Relationships: []
      }
      'subscription': {
        Row: {
          'created_at': string
          'endpoint_id': string
          'filter': unknown
          'filter_text': string | null
          'filter_weight': number
          'org_id': string
          'pattern': string
        }
        ComputedFields: never
        Insert: {
          'created_at': string
          'endpoint_id': string
          'filter'?: unknown
          'filter_text'?: string | null
          'filter_weight'?: number
          'org_id': string
          'pattern': string
        }
        Update: {
          'created_at'?: string
          'endpoint_id'?: string
          'filter'?: unknown
          'filter_text'?: string | null
          'filter_weight'?: number
          'org_id'?: string
          'pattern'?: string
        }
        Relationships: []
      }
      'template': {
        Row: {
          'category': string
          'code': string
          'created_at': string
          'language': string
          'name': string
          'org_id': string
          'parameter_format': string
          'updated_at': string
        }
        ComputedFields: never
        Insert: {
          'category': string
          'code': string
          'created_at': string
          'language': string
          'name': string
          'org_id': string
          'parameter_format'?: string
          'updated_at': string
        }
        Update: {
          'category'?: string
          'code'?: string
          'created_at'?: string
          'language'?: string
          'name'?: string
          'org_id'?: string
          'parameter_format'?: string
          'updated_at'?: string
        }
        Relationships: []
      }
      'template_hold': {
        Row: {
          'app_id': string
          'decided_at': string
          'held': boolean
          'language': string
          'name': string
          'waba_id': string
          'why': string
        }
        ComputedFields: never
        Insert: {
          'app_id': string
          'decided_at': string
          'held': boolean
          'language': string
          'name': string
          'waba_id': string
          'why': string
        }
        Update: {
          'app_id'?: string
          'decided_at'?: string
          'held'?: boolean
          'language'?: string
          'name'?: string
          'waba_id'?: string
          'why'?: string
        }
        Relationships: []
      }
      'tick_step': {
        Row: {
          'calls': string
          'most': number
          'name': string
        }
        ComputedFields: never
        Insert: {
          'calls': string
          'most': number
          'name': string
        }
        Update: {
          'calls'?: string
          'most'?: number
          'name'?: string
        }
        Relationships: []
      }
      'unroutable': {
        Row: {
          'again_at': string
          'error': string
          'event_id': string
          'failures': number
          'org_id': string
          'routed_to': string | null
          'set_aside_at': string
        }
        ComputedFields: never
        Insert: {
          'again_at'?: string
          'error': string
          'event_id': string
          'failures'?: number
          'org_id': string
          'routed_to'?: string | null
          'set_aside_at': string
        }
        Update: {
          'again_at'?: string
          'error'?: string
          'event_id'?: string
          'failures'?: number
          'org_id'?: string
          'routed_to'?: string | null
          'set_aside_at'?: string
        }
        Relationships: []
      }
      'unrouted': {
        Row: {
          'event_id': string
          'failures': number
          'is_backfill': boolean | null
          'org_id': string
          'period': string
          'routed_to': string | null
          'xid': unknown
        }
        ComputedFields: never
        Insert: {
          'event_id': string
          'failures'?: number
          'is_backfill'?: boolean | null
          'org_id': string
          'period'?: never
          'routed_to'?: string | null
          'xid'?: unknown
        }
        Update: {
          'event_id'?: string
          'failures'?: number
          'is_backfill'?: boolean | null
          'org_id'?: string
          'period'?: never
          'routed_to'?: string | null
          'xid'?: unknown
        }
        Relationships: []
      }
      'upkeep_refusal': {
        Row: {
          'at': string
          'error': string
          'failures': number
          'member': string
          'shown_until': string
          'sqlstate': string
          'task': string
        }
        ComputedFields: never
        Insert: {
          'at': string
          'error': string
          'failures': number
          'member': string
          'shown_until': string
          'sqlstate': string
          'task': string
        }
        Update: {
          'at'?: string
          'error'?: string
          'failures'?: number
          'member'?: string
          'shown_until'?: string
          'sqlstate'?: string
          'task'?: string
        }
        Relationships: []
      }
      'waiting_kind': {
        Row: {
          'at': string
          'kind': string
        }
        ComputedFields: never
        Insert: {
          'at': string
          'kind': string
        }
        Update: {
          'at'?: string
          'kind'?: string
        }
        Relationships: []
      }
      'waiting_part': {
        Row: {
          'org_id': string
          'period': string
        }
        ComputedFields: never
        Insert: {
          'org_id': string
          'period': string
        }
        Update: {
          'org_id'?: string
          'period'?: string
        }
        Relationships: []
      }
      'whatsapp_app': {
        Row: {
          'allow_unsigned': boolean
          'app_id': string
          'app_key': string
          'created_at': string
          'old_secret_until': string | null
          'old_secret_vault_id': string | null
          'secret_vault_id': string | null
          'updated_at': string
        }
        ComputedFields: never
        Insert: {
          'allow_unsigned'?: boolean
          'app_id': string
          'app_key': string
          'created_at': string
          'old_secret_until'?: string | null
          'old_secret_vault_id'?: string | null
          'secret_vault_id'?: string | null
          'updated_at': string
        }
        Update: {
          'allow_unsigned'?: boolean
          'app_id'?: string
          'app_key'?: string
          'created_at'?: string
          'old_secret_until'?: string | null
          'old_secret_vault_id'?: string | null
          'secret_vault_id'?: string | null
          'updated_at'?: string
        }
        Relationships: []
      }
      'whatsapp_channel': {
        Row: {
          'app_id': string
          'created_at': string
          'display_digits': string | null
          'endpoint_id': string
          'graph_version': string | null
          'is_default': boolean
          'messages_per_second': number
          'org_id': string
          'phone_number_id': string
          'quality': string | null
          'token_vault_id': string
          'waba_id': string
        }
        ComputedFields: never
        Insert: {
          'app_id': string
          'created_at': string
          'display_digits'?: string | null
          'endpoint_id': string
          'graph_version'?: string | null
          'is_default'?: boolean
          'messages_per_second': number
          'org_id': string
          'phone_number_id': string
          'quality'?: string | null
          'token_vault_id': string
          'waba_id': string
        }
        Update: {
          'app_id'?: string
          'created_at'?: string
          'display_digits'?: string | null
          'endpoint_id'?: string
          'graph_version'?: string | null
          'is_default'?: boolean
          'messages_per_second'?: number
          'org_id'?: string
          'phone_number_id'?: string
          'quality'?: string | null
          'token_vault_id'?: string
          'waba_id'?: string
        }
        Relationships: [
          {
            foreignKeyName: 'whatsapp_channel_app_id_fkey'
            columns: ['app_id']
            isOneToOne: false
            referencedRelation: 'whatsapp_app'
            referencedColumns: ['app_id']
          },
        ]
      }
      'whatsapp_update': {
        Row: {
          'app_id': string
          'attempt_id': number | null
          'callback_data': string | null
          'channel_id': string | null
          'checks': number
          'data': NonNullable<Json>
          'display': string | null
          'field': string | null
          'happened_at': string
          'id': number
          'key': string
          'kind': string
          'message_id': number | null
          'next_check_at': string | null
          'org_id': string | null
          'phone_number_id': string | null
          'reason': string | null
          'received_at': string
          'status': string | null
          'update_status': string
          'user_id': string | null
          'wa_id': string | null
          'waba_id': string | null
          'wamid': string | null
          'apply_preference': Record<string, unknown> | null
          'channels_of': (string)[] | null
          'later_number': string | null
          'notice_rule_of': {
            'action': string
            'cause': string
            'event': string
            'field': string
            'title': string
          } | null
          'replied_attempt': {
            'arrived_at': string | null
            'attempt_no': number
            'claim': number
            'created_at': string
            'delivered_at': string | null
            'error_code': string | null
            'error_message': string | null
            'event_id': string
            'failed_at': string | null
            'id': number
            'message_id': number
            'next_retry_at': string | null
            'phone_number_id': string
            'provider_response': Json | null
            'read_at': string | null
            'sent_at': string | null
            'status': string
            'taken_at': string | null
            'updated_at': string
            'wamid': string | null
          } | null
          'update_identifiers': (string)[] | null
        }
        ComputedFields:
          | 'apply_preference'
          | 'channels_of'
          | 'later_number'
          | 'notice_rule_of'
          | 'replied_attempt'
          | 'update_identifiers'
        Insert: {
          'app_id': string
          'attempt_id'?: number | null
          'callback_data'?: string | null
          'channel_id'?: string | null
          'checks'?: number
          'data': NonNullable<Json>
          'display'?: string | null
          'field'?: string | null
          'happened_at': string
          'id'?: never
          'key': string
          'kind': string
          'message_id'?: number | null
          'next_check_at'?: string | null
          'org_id'?: string | null
          'phone_number_id'?: string | null
          'reason'?: string | null
          'received_at': string
          'status'?: string | null
          'update_status': string
          'user_id'?: string | null
          'wa_id'?: string | null
          'waba_id'?: string | null
          'wamid'?: string | null
        }
        Update: {
          'app_id'?: string
          'attempt_id'?: number | null
          'callback_data'?: string | null
          'channel_id'?: string | null
          'checks'?: number
          'data'?: NonNullable<Json>
          'display'?: string | null
          'field'?: string | null
          'happened_at'?: string
          'id'?: never
          'key'?: string
          'kind'?: string
          'message_id'?: number | null
          'next_check_at'?: string | null
          'org_id'?: string | null
          'phone_number_id'?: string | null
          'reason'?: string | null
          'received_at'?: string
          'status'?: string | null
          'update_status'?: string
          'user_id'?: string | null
          'wa_id'?: string | null
          'waba_id'?: string | null
          'wamid'?: string | null
        }
        Relationships: []
      }
    }
    Views: {
      'broken_watch': {
        Row: {
          'command': string | null
          'problem': string | null
          'table': unknown
        }
        ComputedFields: never
        Relationships: []
      }
      'delivery_status': {
        Row: {
          'attempt': number | null
          'created_at': string | null
          'endpoint_id': string | null
          'event_id': string | null
          'event_type': string | null
          'failed_attempts': number | null
          'finished_at': string | null
          'held_because': string | null
          'next_attempt_at': string | null
          'open': boolean | null
          'org_id': string | null
          'status': string | null
        }
        ComputedFields: never
        Relationships: []
      }
      'endpoint_status': {
        Row: {
          'created_at': string
          'description': string
          'failing_since': string | null
          'failures_running': number | null
          'id': string
          'in_flight': number | null
          'kind': string
          'next_at': string | null
          'not_before': string | null
          'open': number | null
          'org_id': string
          'probe_at': string | null
          'reason': string | null
          'set_aside': number | null
          'set_aside_error': string | null
          'status': string | null
          'updated_at': string
          'url': string
        }
        ComputedFields: never
        Relationships: [
          {
            foreignKeyName: 'endpoint_kind_is_known'
            columns: ['kind']
            isOneToOne: false
            referencedRelation: 'endpoint_kind'
            referencedColumns: ['kind']
          },
        ]
      }
      'open_delivery': {
        Row: {
          'attempt': number | null
          'body': string | null
          'correlation_id': string | null
          'created_at': string | null
          'endpoint_id': string | null
          'event_id': string | null
          'event_type': string | null
          'failed_attempts': number | null
          'has_failed': boolean | null
          'held_because': string | null
          'next_attempt_at': string | null
          'org_id': string | null
          'partition_key': string | null
          'status': string | null
          'was_replayed': boolean | null
        }
        ComputedFields: never
        Relationships: []
      }
      'outbound_attempt': {
        Row: {
          'attempt_no': number
          'created_at': string
          'error_code': string | null
          'error_message': string | null
          'id': number
          'next_retry_at': string | null
          'outbound_message_id': number
          'provider_response': Json | null
          'status': string
          'updated_at': string
        }
        ComputedFields: never
        Insert: {
          'attempt_no'?: number | null
          'created_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'id'?: number | null
          'next_retry_at'?: string | null
          'outbound_message_id'?: number | null
          'provider_response'?: Json | null
          'status'?: string | null
          'updated_at'?: string | null
        }
        Update: {
          'attempt_no'?: number | null
          'created_at'?: string | null
          'error_code'?: string | null
          'error_message'?: string | null
          'id'?: number | null
          'next_retry_at'?: string | null
          'outbound_message_id'?: number | null
          'provider_response'?: Json | null
          'status'?: string | null
          'updated_at'?: string | null
        }
        Relationships: []
      }
      'queue_health': {
        Row: {
          'breakers_open': number | null
          'dead_letters': number | null
          'endpoints_held': number | null
          'in_flight': number | null
          'last_tick_at': string | null
          'oldest_due_at': string | null
          'oldest_unrouted_at': string | null
          'open': number | null
          'problems': (string)[] | null
          'rows_in_default': number | null
          'runs': number | null
          'set_aside': number | null
          'set_aside_error': string | null
          'unroutable': number | null
          'unrouted': number | null
          'waiting_turn': number | null
          'warnings': (string)[] | null
        }
        ComputedFields: never
        Relationships: []
      }
      'relay_status': {
        Row: {
          'correlation_id': string | null
          'created_at': string | null
          'endpoint_id': string | null
          'event_type': string | null
          'finished_at': string | null
          'id': string | null
          'last_attempt_at': string | null
          'last_error': string | null
          'max_retries': number | null
          'next_retry_at': string | null
          'open': boolean | null
          'partition_key': string | null
          'payload': Json | null
          'retry_count': number | null
          'stage': string | null
          'status': string | null
        }
        ComputedFields: never
        Relationships: []
      }
      'saga_outbox': {
        Row: {
          'created_at': string | null
          'endpoint_id': string | null
          'event_id': string | null
          'event_type': string | null
          'last_error': string | null
          'next_retry_at': string | null
          'payload': Json | null
          'retry_count': number | null
          'saga_id': string | null
          'status': string | null
        }
        ComputedFields: never
        Insert: {
          'created_at'?: string | null
          'endpoint_id'?: string | null
          'event_id'?: string | null
          'event_type'?: string | null
          'last_error'?: string | null
          'next_retry_at'?: string | null
          'payload'?: Json | null
          'retry_count'?: number | null
          'saga_id'?: string | null
          'status'?: string | null
        }
        Relationships: []
      }
      'transaction_outbox': {
        Row: {
          'correlation_id': string | null
          'created_at': string | null
          'endpoint_id': string | null
          'event_type': string | null
          'id': string | null
          'last_error': string | null
          'max_retries': number | null
          'next_retry_at': string | null
          'partition_key': string | null
          'payload': Json | null
          'retry_count': number | null
          'status': string | null
        }
        ComputedFields: never
        Insert: {
          'correlation_id'?: string | null
          'created_at'?: string | null
          'endpoint_id'?: string | null
          'event_type'?: string | null
          'id'?: string | null
          'last_error'?: string | null
          'max_retries'?: number | null
          'next_retry_at'?: string | null
          'partition_key'?: string | null
          'payload'?: Json | null
          'retry_count'?: number | null
          'status'?: string | null
        }
        Relationships: []
      }
      'webhook_outbox': {
        Row: {
          'created_at': string | null
          'delivered_at': string | null
          'endpoint_id': string | null
          'event_type': string | null
          'id': string | null
          'last_attempt_at': string | null
          'last_error': string | null
          'next_retry_at': string | null
          'payload': Json | null
          'retry_count': number | null
          'status': string | null
        }
        ComputedFields: never
        Insert: {
          'created_at'?: string | null
          'delivered_at'?: string | null
          'endpoint_id'?: string | null
          'event_type'?: string | null
          'id'?: string | null
          'last_attempt_at'?: string | null
          'last_error'?: string | null
          'next_retry_at'?: string | null
          'payload'?: Json | null
          'retry_count'?: number | null
          'status'?: string | null
        }
        Relationships: []
      }
    }
    Functions: {
      'abandoned_letters': {
        Args: { 'p_before': string; 'p_most': number; 'p_now': string }
        Returns: (string)[]
      }
      'accept_once': { Args: { 'p_consumer': string; 'p_event_id': string }; Returns: boolean }
      'act_on_delivery': {
        Args: {
          'p_action': string
          'p_endpoint_id': string
          'p_event_id': string
          'p_org_id': string
          'p_reason'?: string
        }
        Returns: Json
      }
      'active_secrets': { Args: { 'p_endpoint_ids': (string)[]; 'p_now': string }; Returns: Json }
      'add_activity': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_more': Json
          'p_now': string
          'p_type': string
        }
        Returns: undefined
      }
      'add_apart': {
        Args: {
          'p_is_passing': boolean
          'p_now': string
          'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[]
        }
        Returns: Database['outbox']['CompositeTypes']['pairs_apart']
        SetofOptions: {
          from: '*'
          to: 'pairs_apart'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'add_backfilled': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_now': string
          'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[]
        }
        Returns: number
      }
      'add_deliveries': {
        Args: { 'p_now': string; 'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[] }
        Returns: number
      }
      'add_gate': { Args: { 'p_endpoint_id': string; 'p_ordering': string }; Returns: undefined }
      'add_late_events': { Args: { 'p_items': string; 'p_org_id': string }; Returns: undefined }
      'add_message_channel': {
        Args: { 'p_account'?: string; 'p_endpoint_id': string }
        Returns: undefined
      }
      'add_moved_events': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_items': Json; 'p_now': string; 'p_org_id': string }
        Returns: undefined
      }
      'add_name': {
        Args: {
          'p_binding': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
          'p_now': string
          'p_project': string
        }
        Returns: undefined
      }
      'add_pairs': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_limit': number }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'add_partition': { Args: { 'p_day': string; 'p_table': string }; Returns: boolean }
      'add_partitions': { Args: Record<PropertyKey, never>; Returns: Json }
      'add_people': {
        Args: {
          'p_linked': (Database['outbox']['CompositeTypes']['linked_identifier'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'add_secret': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_secret': string }
        Returns: string
      }
      'add_subscriptions': {
        Args: { 'p_endpoint_id': string; 'p_event_types': (string)[]; 'p_filter'?: string }
        Returns: Json
      }
      'add_to_free_count': { Args: { 'p_day': string; 'p_org_id': string }; Returns: boolean }
      'admit_endpoints': { Args: { 'p_endpoint_ids': (string)[] }; Returns: undefined }
      'admit_lanes': { Args: { 'p_endpoint_ids': (string)[] }; Returns: undefined }
      'admit_upkeep': { Args: { 'p_member': string; 'p_task': string }; Returns: undefined }
      'agreed_contract': { Args: { 'p_speaks': Json }; Returns: number }
      'alive_since': { Args: { 'p_now': string }; Returns: string }
      'allowed_in_flight': {
        Args: {
          'p_last_timed_out': boolean
          'p_max': number
          'p_now': string
          'p_ramp_from': string
        }
        Returns: number
      }
      'announce': { Args: { 'p_endpoints': (string)[]; 'p_type': string }; Returns: undefined }
      'announce_dead': {
        Args: { 'p_endpoints': (string)[]; 'p_events': (string)[] }
        Returns: undefined
      }
      'app_secrets': {
        Args: {
          'p_app': Omit<
            Database['outbox']['Tables']['whatsapp_app']['Row'],
            Database['outbox']['Tables']['whatsapp_app']['ComputedFields']
          >
          'p_now': string
        }
        Returns: (string)[]
      }
      'apply_callbacks': { Args: { 'p_limit'?: number }; Returns: number }
      'apply_callbacks_step': { Args: { 'p_most': number; 'p_now': string }; Returns: number }
      'apply_delivered': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: number
      }
      'apply_early_reports': {
        Args: { 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: undefined
      }
      'apply_failure_rules': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: (Database['outbox']['CompositeTypes']['opt_out_change'])[]
      }
      'apply_inbound': {
        Args: {
          'p_ids': (number)[]
          'p_now': string
          'p_opt_outs': (Database['outbox']['CompositeTypes']['opt_out_change'])[]
        }
        Returns: (Database['outbox']['CompositeTypes']['opt_out_change'])[]
      }
      'apply_inbound_message': {
        Args: {
          'p_now': string
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: Record<string, unknown>
      }
      'apply_late_result': {
        Args: {
          'p_attempt': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
          'p_result': Database['outbox']['CompositeTypes']['result']
        }
        Returns: undefined
      }
      'apply_notice': {
        Args: {
          'p_now': string
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: string
      }
      'apply_notices': { Args: { 'p_ids': (number)[]; 'p_now': string }; Returns: undefined }
      'apply_preference': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: Record<string, unknown>
      }
      'apply_results': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: Database['outbox']['CompositeTypes']['news']
        SetofOptions: {
          from: '*'
          to: 'news'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'apply_statuses': {
        Args: { 'p_ids': (number)[]; 'p_now': string }
        Returns: (Database['outbox']['CompositeTypes']['opt_out_change'])[]
      }
      'apply_updates': { Args: { 'p_ids': (number)[]; 'p_now': string }; Returns: undefined }
      'arrival_reason': { Args: { 'p_from': string }; Returns: string }
      'arrives_from': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: string
      }
      'arriving_deliveries': {
        Args: { 'p_items': Json; 'p_org_id': string }
        Returns: (Database['outbox']['CompositeTypes']['moved_delivery'])[]
      }
      'attempt_bounds': { Args: Record<PropertyKey, never>; Returns: (number)[] }
      'attempt_outcome': {
        Args: {
          'p_attempt': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_is_current': boolean
        }
        Returns: string
      }
      'audit': {
        Args: {
          'p_action': string
          'p_actor': string
          'p_correlation_id'?: string
          'p_details': string
          'p_entity_id': string
          'p_entity_type': string
          'p_now': string
          'p_org_id': string
        }
        Returns: undefined
      }
      'audit_event_json': {
        Args: {
          'p_row': Omit<
            Database['outbox']['Tables']['audit_event']['Row'],
            Database['outbox']['Tables']['audit_event']['ComputedFields']
          >
        }
        Returns: Json
      }
      'audit_id_after': { Args: { 'p_at': string; 'p_org_id': string }; Returns: number }
      'audit_message': {
        Args: {
          'p_action': string
          'p_actor': string
          'p_details': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'audit_of_correlation': {
        Args: { 'p_correlation_id': string; 'p_limit': number; 'p_org_id': string }
        Returns: (number)[]
      }
      'audit_refusal': {
        Args: {
          'p_actor': string
          'p_code': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'authority_problem': { Args: { 'p_url': string }; Returns: string }
      'await_tick': { Args: { 'p_this_minute'?: boolean }; Returns: undefined }
      'backfill': {
        Args: {
          'p_columns'?: (string)[]
          'p_endpoint_id': string
          'p_except'?: (string)[]
          'p_org_column'?: string
          'p_partition_column'?: string
          'p_rate_per_second'?: number
          'p_table': unknown
          'p_type'?: string
          'p_where'?: string
        }
        Returns: Json
      }
      'backfill_events': {
        Args: {
          'p_by_subscription'?: boolean
          'p_endpoint_id': string
          'p_filter'?: string
          'p_from'?: string
          'p_include_delivered'?: boolean
          'p_rate_per_second'?: number
          'p_types'?: (string)[]
          'p_until'?: string
        }
        Returns: Json
      }
      'backfill_kept': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
          'p_now': string
        }
        Returns: (string)[]
      }
      'backfill_room': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
        }
        Returns: number
      }
      'backfill_rows': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
          'p_now': string
        }
        Returns: (string)[]
      }
      'backfilled_endpoint': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'base_type': { Args: { 'p_type': unknown }; Returns: unknown }
      'begin_backfill': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_now': string
        }
        Returns: boolean
      }
      'begin_leaving': {
        Args: { 'p_database'?: string; 'p_move_id': string; 'p_org_id': string; 'p_other': string }
        Returns: undefined
      }
      'begin_receiving': {
        Args: { 'p_database'?: string; 'p_move_id': string; 'p_org_id': string; 'p_other': string }
        Returns: undefined
      }
      'begin_request': {
        Args: { 'p_key': string; 'p_org_id': string; 'p_request': Json; 'p_route': string }
        Returns: Json
      }
      'begin_saga': {
        Args: {
          'p_context': Json
          'p_idempotency_key': string
          'p_name': string
          'p_org_id': string
        }
        Returns: Json
      }
      'begin_ticks': { Args: Record<PropertyKey, never>; Returns: string }
      'begin_turn': { Args: Record<PropertyKey, never>; Returns: undefined }
      'bind': {
        Args: {
          'p_binding': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
          'p_kind': string
          'p_named': string
          'p_now': string
          'p_run': string
        }
        Returns: string
      }
      'bind_configured': { Args: { 'p_functions_url': string; 'p_now': string }; Returns: string }
      'binding_problem': { Args: { 'p_now': string }; Returns: string }
      'body_problem': {
        Args: { 'p_body': string; 'p_filters': (unknown)[]; 'p_weights': (number)[] }
        Returns: string
      }
      'body_work': { Args: { 'p_body': string }; Returns: number }
      'broker_of_wire': { Args: { 'p_broker': Json }; Returns: Json }
      'broker_target': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_letter': Omit<
            Database['outbox']['Tables']['dead_letter']['Row'],
            Database['outbox']['Tables']['dead_letter']['ComputedFields']
          >
        }
        Returns: string
      }
      'broker_to_wire': { Args: { 'p_broker': Json }; Returns: Json }
      'build_index': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'build_one_index': {
        Args: { 'p_definition': string; 'p_index': unknown; 'p_part': unknown }
        Returns: undefined
      }
      'build_parcel': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_known': Json
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['parcel']
        SetofOptions: {
          from: '*'
          to: 'parcel'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'build_response': {
        Args: {
          'p_applied': number
          'p_errors': Json
          'p_more'?: boolean
          'p_parcel': Database['outbox']['CompositeTypes']['parcel']
          'p_problem'?: string
          'p_renewed': Json
          'p_repeat': boolean
          'p_retries': Json
          'p_routed': number
          'p_stale': number
          'p_stop': string
        }
        Returns: Json
      }
      'calculate_delay': { Args: { 'p_attempt': number; 'p_policy': Json }; Returns: string }
      'callback_app': { Args: { 'p_app_key'?: string }; Returns: Json }
      'callback_data': { Args: { 'p_attempt_no': number; 'p_message_id': number }; Returns: string }
      'callback_result': { Args: { 'p_given': number; 'p_ids': (number)[] }; Returns: Json }
      'callback_time': { Args: { 'p_at': Json; 'p_now': string }; Returns: string }
      'caller_role': { Args: Record<PropertyKey, never>; Returns: unknown }
      'can_lease_one': {
        Args: {
          'p_deliveries': (Database['outbox']['Tables']['delivery']['Row'])[]
          'p_now': string
        }
        Returns: boolean
      }
      'cancel_delivery': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_why'?: string }
        Returns: Json
      }
      'cancel_message': {
        Args: { 'p_actor'?: string; 'p_message_id': string; 'p_org_id': string; 'p_why'?: string }
        Returns: Json
      }
      'cancel_open': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_why': string }
        Returns: number
      }
      'cancel_pending': {
        Args: { 'p_now': string; 'p_until': string; 'p_why': string }
        Returns: Json
      }
      'carried_keys': { Args: { 'p_newest': number; 'p_org_id': string }; Returns: Json }
      'change_apart': {
        Args: {
          'p_locked': boolean
          'p_now': string
          'p_rows': (unknown)[]
          'p_shown': string
          'p_statement': string
          'p_table': unknown
          'p_task': string
        }
        Returns: number
      }
      'change_broker': {
        Args: {
          'p_before': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_broker': Json
          'p_credentials': Json
        }
        Returns: undefined
      }
      'change_broker_of_wire': {
        Args: { 'p_change': Json; 'p_endpoint_id': string }
        Returns: Json
      }
      'change_catalogue': { Args: { 'p_org_id': string; 'p_strict'?: boolean }; Returns: undefined }
      'change_consent': {
        Args: {
          'p_actor': string
          'p_channel': string
          'p_dossier_id': string
          'p_evidence': string
          'p_granted': boolean
          'p_org_id': string
          'p_purposes': (string)[]
          'p_source': string
        }
        Returns: Json
      }
      'change_endpoint': { Args: { 'p_change': Json; 'p_endpoint_id': string }; Returns: undefined }
      'change_event_types': {
        Args: { 'p_change': Json; 'p_endpoint_id': string }
        Returns: undefined
      }
      'change_headers': { Args: { 'p_endpoint_id': string; 'p_headers': Json }; Returns: Json }
      'change_lane': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
          'p_to': Omit<
            Database['outbox']['Tables']['lane']['Row'],
            Database['outbox']['Tables']['lane']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'change_opt_out': {
        Args: {
          'p_actor'?: string
          'p_channel'?: string
          'p_evidence'?: string
          'p_opted_out': boolean
          'p_org_id': string
          'p_purpose': string
          'p_recipient': string
          'p_source': string
        }
        Returns: Json
      }
      'change_replay_job': {
        Args: { 'p_id': string; 'p_org_id': string; 'p_status': string }
        Returns: Json
      }
      'change_rows': {
        Args: {
          'p_now': string
          'p_rows': (unknown)[]
          'p_shown'?: string
          'p_statement': string
          'p_table': unknown
          'p_task': string
        }
        Returns: number
      }
      'change_slack_of_wire': { Args: { 'p_change': Json; 'p_endpoint_id': string }; Returns: Json }
      'changed_value': { Args: { 'p_columns': Json }; Returns: string }
      'changes_number': { Args: { 'p_data': Json }; Returns: boolean }
      'channel_json': { Args: { 'p_channel_id': string }; Returns: Json }
      'channel_names': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'channels_of': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: (string)[]
      }
      'check_addressed': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'check_amqp_url': { Args: { 'p_url': string }; Returns: string }
      'check_binding': {
        Args: { 'p_kind': string; 'p_now': string; 'p_run': string; 'p_says': Json }
        Returns: string
      }
      'check_blockers': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_bound': { Args: { 'p_at': string; 'p_name': string }; Returns: undefined }
      'check_broker_address': {
        Args: { 'p_address': string; 'p_field': string }
        Returns: undefined
      }
      'check_ca': { Args: { 'p_ca': Json }; Returns: undefined }
      'check_change_count': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'check_channel': { Args: { 'p_channel_id': string; 'p_org_id': string }; Returns: string }
      'check_channel_change': { Args: { 'p_change': Json }; Returns: undefined }
      'check_choice': {
        Args: { 'p_choices': (string)[]; 'p_field': string; 'p_value': string }
        Returns: undefined
      }
      'check_columns': {
        Args: { 'p_columns': (string)[]; 'p_field': string; 'p_table': unknown }
        Returns: undefined
      }
      'check_credentials': {
        Args: { 'p_broker': Json; 'p_credentials': Json; 'p_kind': string }
        Returns: undefined
      }
      'check_delivery': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_org_id': string }
        Returns: Json
      }
      'check_dossier': { Args: { 'p_dossier_id': string }; Returns: undefined }
      'check_endpoint': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'check_endpoint_change': { Args: { 'p_change': Json }; Returns: undefined }
      'check_endpoint_limit': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_event': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
          'p_is_own'?: boolean
        }
        Returns: string
      }
      'check_event_bytes': { Args: { 'p_now': string; 'p_org_id': string }; Returns: undefined }
      'check_filter_count': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'check_filter_text': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: string
      }
      'check_handler': { Args: { 'p_function': string }; Returns: string }
      'check_headers': { Args: { 'p_headers': Json }; Returns: undefined }
      'check_identifier': { Args: { 'p_recipient': string }; Returns: string }
      'check_inserted': { Args: { 'p_row': Json; 'p_view': string }; Returns: undefined }
      'check_installation': { Args: { 'p_event_id'?: string }; Returns: Json }
      'check_is_open': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_remedy': string }
        Returns: undefined
      }
      'check_is_signed': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'check_json': { Args: { 'p_body': string }; Returns: undefined }
      'check_kafka': { Args: { 'p_broker': Json }; Returns: Json }
      'check_leaves': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'check_limit': {
        Args: {
          'p_count': number
          'p_name': string
          'p_org_id': string
          'p_owner': string
          'p_remedy': string
          'p_things': string
        }
        Returns: undefined
      }
      'check_lists': { Args: { 'p_lists': Json; 'p_table': unknown }; Returns: undefined }
      'check_members': {
        Args: { 'p_field': string; 'p_kind': string; 'p_members': (string)[]; 'p_value': Json }
        Returns: undefined
      }
      'check_message': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'check_message_id': {
        Args: { 'p_message_id': string; 'p_org_id': string }
        Returns: {
          'attempt_count': number
          'category': string
          'channel': string
          'channel_id': string
          'content': string
          'copies': number
          'correlation_id': string | null
          'created_at': string
          'created_by': string | null
          'delivered_at': string | null
          'dossier_id': string | null
          'erased_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'id': number
          'idempotency_key': string
          'max_attempts': number
          'org_id': string
          'payload_json': NonNullable<Json>
          'provider_message_id': string | null
          'read_at': string | null
          'recipient_hash': string | null
          'sent_at': string | null
          'status': string
          'template_code': string | null
          'to_recipient': string
          'updated_at': string
          'wa_id': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'outbound_message'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'check_module': { Args: { 'p_name': string; 'p_version': string }; Returns: undefined }
      'check_move': {
        Args: { 'p_org_id': string; 'p_statuses': (string)[] }
        Returns: {
          'changed_at': string
          'endpoints': NonNullable<Json>
          'move_id': string
          'org_id': string
          'other': string
          'other_database': string | null
          'role': string
          'run_id': string | null
          'settled_at': unknown
          'started_at': string
          'status': string
        }
        SetofOptions: {
          from: '*'
          to: 'org_move'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'check_move_name': { Args: { 'p_other': string }; Returns: undefined }
      'check_named_again': {
        Args: {
          'p_before': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_headers': Json
        }
        Returns: undefined
      }
      'check_new_job': {
        Args: { 'p_org_id': string; 'p_rate_per_second': number }
        Returns: undefined
      }
      'check_not_restoring': { Args: Record<PropertyKey, never>; Returns: undefined }
      'check_old_secrets': {
        Args: { 'p_endpoint_id': string; 'p_now': string }
        Returns: undefined
      }
      'check_org': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_overlap': { Args: { 'p_overlap': string }; Returns: undefined }
      'check_page': { Args: { 'p_limit': number }; Returns: undefined }
      'check_patterns': { Args: { 'p_patterns': (string)[] }; Returns: undefined }
      'check_payload': { Args: { 'p_channel': string; 'p_payload': Json }; Returns: undefined }
      'check_rabbitmq': { Args: { 'p_broker': Json }; Returns: Json }
      'check_range': {
        Args: { 'p_field': string; 'p_highest': number; 'p_lowest': number; 'p_value': number }
        Returns: undefined
      }
      'check_reason': { Args: { 'p_reason': string }; Returns: undefined }
      'check_recipient': { Args: { 'p_to': string }; Returns: undefined }
      'check_retry': { Args: { 'p_policy': Json }; Returns: undefined }
      'check_schema_size': {
        Args: { 'p_org_id': string; 'p_schema': Json; 'p_type': string }
        Returns: undefined
      }
      'check_secret': { Args: { 'p_secret': string }; Returns: string }
      'check_sending': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['sending_check']
        SetofOptions: {
          from: '*'
          to: 'sending_check'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'check_signing_key': { Args: { 'p_secret': string }; Returns: string }
      'check_source': { Args: { 'p_table': unknown }; Returns: undefined }
      'check_spread': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_subscription_limits': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'check_template': {
        Args: {
          'p_characters': string
          'p_field': string
          'p_names': (string)[]
          'p_template': Json
        }
        Returns: undefined
      }
      'check_template_limit': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_token_share': {
        Args: {
          'p_before': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_change': Json
          'p_org_id': string
        }
        Returns: undefined
      }
      'check_tree': {
        Args: { 'p_operations': (string)[]; 'p_per_statement': boolean; 'p_table': unknown }
        Returns: undefined
      }
      'check_type': { Args: { 'p_type': string }; Returns: undefined }
      'check_unordered': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'check_url': { Args: { 'p_url': string }; Returns: string }
      'check_user_org': { Args: { 'p_org_id': string }; Returns: undefined }
      'check_watched': { Args: { 'p_table': unknown }; Returns: undefined }
      'claim': {
        Args: { 'p_full': (string)[]; 'p_limit': number; 'p_now': string; 'p_touched': (string)[] }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'claim_broker_replay': {
        Args: {
          'p_endpoint_id': string
          'p_event_id': string
          'p_exchange'?: string
          'p_kind': string
          'p_topic': string
        }
        Returns: Json
      }
      'claim_for': {
        Args: {
          'p_full': (string)[]
          'p_held': number
          'p_limit': number
          'p_now': string
          'p_run': string
          'p_touched': (string)[]
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'claim_idempotency_key': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: string
      }
      'claim_isolated': {
        Args: { 'p_now': string; 'p_run': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'claimed_before': {
        Args: { 'p_now': string; 'p_run': string; 'p_seq': number }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'classify_statuses': {
        Args: { 'p_gates': (string)[]; 'p_ids': (number)[] }
        Returns: (Database['outbox']['CompositeTypes']['status_change'])[]
      }
      'clean': { Args: { 'p_most': number; 'p_name': string; 'p_now': string }; Returns: number }
      'cleanup': { Args: { 'p_most'?: number }; Returns: Json }
      'cleanup_next': { Args: Record<PropertyKey, never>; Returns: boolean }
      'clear_moved_part': { Args: { 'p_org_id': string; 'p_part': string }; Returns: boolean }
      'clock': { Args: Record<PropertyKey, never>; Returns: string }
      'close_delivery': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
          'p_outcome': string
          'p_why': string
        }
        Returns: undefined
      }
      'close_message': {
        Args: { 'p_event_id': string; 'p_now': string; 'p_outcome': string; 'p_why': string }
        Returns: undefined
      }
      'close_missing': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'close_needless_retries': {
        Args: { 'p_messages': (number)[]; 'p_now': string }
        Returns: undefined
      }
      'close_new': { Args: Record<PropertyKey, never>; Returns: undefined }
      'close_pairs': {
        Args: { 'p_now': string; 'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[] }
        Returns: undefined
      }
      'close_publishing': { Args: { 'p_now': string; 'p_org_id': string }; Returns: undefined }
      'close_source': { Args: { 'p_org_id': string }; Returns: undefined }
      'column_guard': { Args: { 'p_row': string; 'p_table': unknown }; Returns: string }
      'column_lists': {
        Args: {
          'p_changed'?: (string)[]
          'p_columns': (string)[]
          'p_except': (string)[]
          'p_org_column': string
          'p_partition_column': string
        }
        Returns: Json
      }
      'column_value': { Args: { 'p_column': string; 'p_type': unknown }; Returns: string }
      'comes_round': { Args: { 'p_every': number; 'p_now': string }; Returns: boolean }
      'complete': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: number
      }
      'complete_apart': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: Database['outbox']['CompositeTypes']['completed']
        SetofOptions: {
          from: '*'
          to: 'completed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'complete_message': {
        Args: { 'p_now': string; 'p_result': Database['outbox']['CompositeTypes']['result'] }
        Returns: undefined
      }
      'complete_messages': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: undefined
      }
      'configure': { Args: { 'p_functions_url': string; 'p_worker_secret': string }; Returns: Json }
      'connections_most': { Args: Record<PropertyKey, never>; Returns: number }
      'connections_used': { Args: Record<PropertyKey, never>; Returns: number }
      'consents_json': { Args: { 'p_dossier_id': string; 'p_org_id': string }; Returns: Json }
      'consume': {
        Args: {
          'p_consumer': string
          'p_event_id': string
          'p_function': string
          'p_message': string
        }
        Returns: boolean
      }
      'contract_advice': { Args: { 'p_speaks': Json }; Returns: Json }
      'contract_problem': { Args: { 'p_now': string }; Returns: string }
      'contract_text': { Args: { 'p_range': Json }; Returns: string }
      'contracts': { Args: Record<PropertyKey, never>; Returns: Json }
      'copy_opt_outs': {
        Args: { 'p_from': number; 'p_org_id': string; 'p_to': number }
        Returns: undefined
      }
      'count_action': { Args: { 'p_action': string; 'p_org_id': string }; Returns: undefined }
      'count_callbacks': { Args: { 'p_responses': Json }; Returns: Json }
      'count_changed_messages': {
        Args: { 'p_moves': (Database['outbox']['CompositeTypes']['changed_message'])[] }
        Returns: undefined
      }
      'count_ended': {
        Args: { 'p_endpoint_id': string; 'p_n': number; 'p_outcome': string }
        Returns: undefined
      }
      'count_event_bytes': {
        Args: { 'p_now': string; 'p_rows_at': (unknown)[] }
        Returns: undefined
      }
      'count_failure': {
        Args: { 'p_error': string; 'p_event': string; 'p_is_passing': boolean; 'p_now': string }
        Returns: undefined
      }
      'count_message': {
        Args: { 'p_error_code'?: string; 'p_n'?: number; 'p_status': string }
        Returns: undefined
      }
      'count_messages': { Args: { 'p_org_id': string }; Returns: Json }
      'count_passed': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: undefined
      }
      'count_portal_token': { Args: { 'p_org_id': string }; Returns: undefined }
      'count_requests': { Args: { 'p_requests': Json }; Returns: Json }
      'count_said': { Args: { 'p_text': string }; Returns: number }
      'count_up': {
        Args: { 'p_labels': (string)[]; 'p_metric': string; 'p_n'?: number; 'p_total'?: number }
        Returns: undefined
      }
      'count_updates': { Args: { 'p_ids': (number)[] }; Returns: undefined }
      'count_values': { Args: { 'p_body': string }; Returns: number }
      'counters': { Args: Record<PropertyKey, never>; Returns: Json }
      'counters_since': { Args: { 'p_now': string }; Returns: string }
      'create_again_at': {
        Args: { 'p_failures': number; 'p_now': string; 'p_sqlstate': string }
        Returns: string
      }
      'create_backfill': {
        Args: { 'p_endpoint_id': string; 'p_job': Json; 'p_key'?: string; 'p_org_id': string }
        Returns: Json
      }
      'create_broker_endpoint': {
        Args: {
          'p_broker': Json
          'p_credentials'?: Json
          'p_description'?: string
          'p_event_types'?: (string)[]
          'p_filter'?: string
          'p_headers'?: Json
          'p_kind': string
          'p_ordering'?: string
          'p_org_id'?: string
          'p_payload'?: string
        }
        Returns: Json
      }
      'create_broker_of_wire': {
        Args: { 'p_endpoint': Json; 'p_event_types': (string)[]; 'p_org_id': string }
        Returns: Json
      }
      'create_by_kind': {
        Args: { 'p_endpoint': Json; 'p_event_types': (string)[]; 'p_org_id': string }
        Returns: Json
      }
      'create_channel': {
        Args: {
          'p_access_token': string
          'p_app_id': string
          'p_description'?: string
          'p_messages_per_second'?: number
          'p_org_id': string
          'p_pair_seconds'?: number
          'p_phone_number_id': string
          'p_waba_id': string
        }
        Returns: Json
      }
      'create_endpoint': {
        Args: {
          'p_description'?: string
          'p_event_types'?: (string)[]
          'p_filter'?: string
          'p_headers'?: Json
          'p_max_in_flight'?: number
          'p_ordering'?: string
          'p_org_id'?: string
          'p_payload'?: string
          'p_quantum'?: number
          'p_rate_per_second'?: number
          'p_retry'?: Json
          'p_secret'?: string
          'p_timeout_ms'?: number
          'p_url': string
        }
        Returns: Json
      }
      'create_message': {
        Args: {
          'p_actor'?: string
          'p_channel'?: string
          'p_channel_id'?: string
          'p_correlation_id'?: string
          'p_dossier_id'?: string
          'p_idempotency_key'?: string
          'p_org_id': string
          'p_payload': Json
          'p_template_code'?: string
          'p_to': string
        }
        Returns: Json
      }
      'create_one_waiting': {
        Args: {
          'p_now': string
          'p_refusal': Omit<
            Database['outbox']['Tables']['refusal']['Row'],
            Database['outbox']['Tables']['refusal']['ComputedFields']
          >
        }
        Returns: number
      }
      'create_org_endpoint': {
        Args: {
          'p_by_token'?: boolean
          'p_caller'?: string
          'p_endpoint': Json
          'p_key'?: string
          'p_org_id': string
        }
        Returns: Json
      }
      'create_refused': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_now': string }
        Returns: undefined
      }
      'create_replay_job': {
        Args: { 'p_job': Json; 'p_key'?: string; 'p_org_id': string }
        Returns: Json
      }
      'create_slack_endpoint': {
        Args: {
          'p_description'?: string
          'p_event_types'?: (string)[]
          'p_filter'?: string
          'p_headers'?: Json
          'p_org_id'?: string
          'p_url': string
        }
        Returns: Json
      }
      'create_slack_of_wire': {
        Args: { 'p_endpoint': Json; 'p_event_types': (string)[]; 'p_org_id': string }
        Returns: Json
      }
      'create_waiting': { Args: { 'p_most': number; 'p_now': string }; Returns: number }
      'create_watch': {
        Args: {
          'p_operations': (string)[]
          'p_per_statement': boolean
          'p_table': unknown
          'p_watch': Json
        }
        Returns: undefined
      }
      'current_actor': { Args: Record<PropertyKey, never>; Returns: string }
      'current_identifiers': {
        Args: { 'p_identifiers': (string)[]; 'p_org_id': string; 'p_times': (string)[] }
        Returns: (string)[]
      }
      'current_router': {
        Args: Record<PropertyKey, never>
        Returns: {
          'batch': number
          'last_org': string
          'open_xids': (unknown)[]
          'seen_below': unknown
          'shared_at': string
          'turn': number
          'watermark': string
        }
        SetofOptions: {
          from: '*'
          to: 'router'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'current_traceparent': { Args: Record<PropertyKey, never>; Returns: string }
      'cursor_to_key': { Args: { 'p_cursor': string; 'p_form': string }; Returns: string }
      'cut_batch': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_most': number }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'database_id': { Args: Record<PropertyKey, never>; Returns: string }
      'database_metrics': { Args: Record<PropertyKey, never>; Returns: Json }
      'databases_bytes': { Args: Record<PropertyKey, never>; Returns: number }
      'day_end': { Args: { 'p_now': string }; Returns: string }
      'day_of': { Args: { 'p_now': string }; Returns: string }
      'dead_letter_json': {
        Args: {
          'p_letter': Omit<
            Database['outbox']['Tables']['dead_letter']['Row'],
            Database['outbox']['Tables']['dead_letter']['ComputedFields']
          >
        }
        Returns: Json
      }
      'dead_row_checks': {
        Args: Record<PropertyKey, never>
        Returns: {
          'detail': string
          'problem': string
        }[]
      }
      'decide_copy': { Args: { 'p_decision': string; 'p_project'?: string }; Returns: Json }
      'define_saga': {
        Args: { 'p_by_tokens'?: boolean; 'p_name': string; 'p_steps': Json }
        Returns: Json
      }
      'delay_after': { Args: { 'p_failure': number; 'p_policy': Json }; Returns: string }
      'delete_channel': {
        Args: { 'p_actor'?: string; 'p_channel_id': string; 'p_org_id': string }
        Returns: Json
      }
      'delete_endpoint': { Args: { 'p_endpoint_id': string }; Returns: Json }
      'delete_event_type': {
        Args: { 'p_actor'?: string; 'p_org_id': string; 'p_type': string }
        Returns: Json
      }
      'delete_org_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string; 'p_version'?: number }
        Returns: Json
      }
      'delete_template': {
        Args: { 'p_actor'?: string; 'p_code': string; 'p_org_id': string }
        Returns: Json
      }
      'deliveries_to_mark': {
        Args: {
          'p_endpoint_id': string
          'p_leased': boolean
          'p_mark': Omit<
            Database['outbox']['Tables']['delivered_mark']['Row'],
            Database['outbox']['Tables']['delivered_mark']['ComputedFields']
          >
          'p_most': number
          'p_now': string
        }
        Returns: (Database['outbox']['Tables']['delivery']['Row'])[]
      }
      'delivery_endpoints': {
        Args: { 'p_event_id': string }
        Returns: {
          'endpoint_id': string
        }[]
      }
      'delivery_json': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: Json }
      'departure_reason': { Args: { 'p_to': string }; Returns: string }
      'disable_endpoint': { Args: { 'p_endpoint_id': string; 'p_reason'?: string }; Returns: Json }
      'disable_endpoints': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_now': string; 'p_reason': string }
        Returns: undefined
      }
      'discard_dead_letter': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_reason': string }
        Returns: Json
      }
      'discard_org_dead_letter': {
        Args: { 'p_id': string; 'p_org_id': string; 'p_reason': string }
        Returns: Json
      }
      'disk_checks': {
        Args: Record<PropertyKey, never>
        Returns: {
          'detail': string
          'problem': string
        }[]
      }
      'dispatch': {
        Args: {
          'p_contract'?: Json
          'p_ended'?: boolean
          'p_held'?: number
          'p_kind'?: string
          'p_known'?: Json
          'p_limit'?: number
          'p_results'?: Json
          'p_run': string
          'p_seq': number
        }
        Returns: Json
      }
      'dlq_message': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_letter': Omit<
            Database['outbox']['Tables']['dead_letter']['Row'],
            Database['outbox']['Tables']['dead_letter']['ComputedFields']
          >
        }
        Returns: string
      }
      'drains': { Args: { 'p_now': string; 'p_run': string }; Returns: boolean }
      'drop_arrival': { Args: { 'p_endpoint_id': string; 'p_from': string }; Returns: undefined }
      'drop_ended_subscriptions': { Args: { 'p_most': number; 'p_now': string }; Returns: number }
      'drop_expired_secrets': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'drop_moved_endpoint': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'drop_partition': { Args: { 'p_part': unknown; 'p_table': string }; Returns: boolean }
      'drop_partitions': { Args: { 'p_most'?: number }; Returns: Json }
      'drop_saga': { Args: { 'p_name': string }; Returns: Json }
      'dropped_events': {
        Args: { 'p_claimed': Database['outbox']['CompositeTypes']['claimed'] }
        Returns: (Database['outbox']['Tables']['event']['Row'])[]
      }
      'due_gates': {
        Args: { 'p_full'?: (string)[]; 'p_limit': number; 'p_now': string }
        Returns: (string)[]
      }
      'due_isolated_gate': { Args: { 'p_now': string }; Returns: string }
      'due_retries': {
        Args: { 'p_after': string; 'p_org_id': string; 'p_until': string }
        Returns: Json
      }
      'due_suspect': { Args: { 'p_now': string }; Returns: (string)[] }
      'each_filter_once': {
        Args: { 'p_question': Database['outbox']['CompositeTypes']['question'] }
        Returns: Database['outbox']['CompositeTypes']['question']
        SetofOptions: {
          from: 'outbox.question'
          to: 'question'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'end_broker_claims': { Args: { 'p_most': number; 'p_now': string }; Returns: undefined }
      'end_claims': { Args: { 'p_claims': (Json)[]; 'p_now': string }; Returns: undefined }
      'end_lost_leases': { Args: { 'p_now': string; 'p_org_id': string }; Returns: undefined }
      'end_missing': {
        Args: { 'p_claim': Database['outbox']['CompositeTypes']['result']; 'p_now': string }
        Returns: undefined
      }
      'end_moved_events': { Args: { 'p_org_id': string; 'p_pairs': Json }; Returns: number }
      'end_replay_jobs': {
        Args: { 'p_jobs': (number)[]; 'p_now': string; 'p_until': string }
        Returns: undefined
      }
      'end_request': {
        Args: { 'p_key': string; 'p_org_id': string; 'p_response': Json }
        Returns: undefined
      }
      'end_saga': {
        Args: { 'p_idempotency_key': string; 'p_org_id': string; 'p_result': Json }
        Returns: Json
      }
      'end_subscriptions': {
        Args: { 'p_at': string; 'p_endpoint_id': string; 'p_patterns': (string)[] }
        Returns: undefined
      }
      'end_unreadable_secrets': {
        Args: { 'p_endpoint_id': string; 'p_now': string }
        Returns: undefined
      }
      'endpoint_json': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: Json
      }
      'endpoint_members': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: Json
      }
      'endpoint_secrets': { Args: { 'p_endpoint_id': string }; Returns: Json }
      'endpoints_to_judge': {
        Args: { 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: (string)[]
      }
      'endpoints_to_purge': { Args: { 'p_now': string }; Returns: (string)[] }
      'engine_metrics': { Args: { 'p_now': string }; Returns: Json }
      'epoch_ms': { Args: Record<PropertyKey, never>; Returns: number }
      'erase_inbound': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'erase_messages': { Args: { 'p_limit': number }; Returns: number }
      'erase_outbound': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'erase_people': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'estimated_rows': { Args: { 'p_table': unknown }; Returns: number }
      'estimated_work': {
        Args: { 'p_body_bytes': number; 'p_weights': (number)[] }
        Returns: number
      }
      'evaluate_filters': {
        Args: {
          'p_batch': Database['outbox']['CompositeTypes']['routing']
          'p_is_whole': boolean
          'p_most': number
        }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'event_content': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: string
      }
      'event_json': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: Json
      }
      'event_metrics': { Args: Record<PropertyKey, never>; Returns: Json }
      'event_of_json': {
        Args: { 'p_at': string; 'p_event': Json; 'p_org_id': string }
        Returns: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }
        SetofOptions: {
          from: '*'
          to: 'event'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'event_time': { Args: { 'p_count'?: number }; Returns: string }
      'event_type_json': {
        Args: {
          'p_type': Omit<
            Database['outbox']['Tables']['event_type']['Row'],
            Database['outbox']['Tables']['event_type']['ComputedFields']
          >
        }
        Returns: Json
      }
      'execute_org_saga': {
        Args: {
          'p_by_token'?: boolean
          'p_context': string
          'p_key'?: string
          'p_name': string
          'p_org_id': string
          'p_search_path'?: string
          'p_traceparent'?: string
        }
        Returns: Json
      }
      'execute_saga': {
        Args: {
          'p_context'?: Json
          'p_idempotency_key'?: string
          'p_name': string
          'p_org_id'?: string
          'p_traceparent'?: string
        }
        Returns: Json
      }
      'expire_deliveries': { Args: { 'p_limit': number }; Returns: number }
      'expire_delivery': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
        }
        Returns: boolean
      }
      'expire_org_secret': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string; 'p_secret_id': string }
        Returns: Json
      }
      'expire_secret': { Args: { 'p_secret_id': string }; Returns: Json }
      'fail_attempt': {
        Args: {
          'p_attempt': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_delivery_attempt': Omit<
            Database['outbox']['Tables']['attempt']['Row'],
            Database['outbox']['Tables']['attempt']['ComputedFields']
          >
          'p_now': string
          'p_result': Database['outbox']['CompositeTypes']['result']
        }
        Returns: undefined
      }
      'fail_message': {
        Args: {
          'p_code': string
          'p_error': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'fail_unsent': {
        Args: { 'p_endpoint_id': string; 'p_limit': number; 'p_now': string }
        Returns: number
      }
      'fails_call': { Args: { 'p_sqlstate': string }; Returns: boolean }
      'fails_upkeep': { Args: { 'p_sqlstate': string }; Returns: boolean }
      'failure_rule_of': {
        Args: {
          'p_code': string
          'p_error_class': string
          'p_kind': string
          'p_status': number
          'p_subcode'?: string
        }
        Returns: {
          'action': string
          'code': string
          'firm': boolean
          'kind': string
          'max_retries': number | null
          'min_delay_s': number
          'new_token': boolean
          'note': string
          'of_recipient': boolean
          'opt_out': string | null
          'scope': string
          'title': string
        }
        SetofOptions: {
          from: '*'
          to: 'failure_rule'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'fall_asleep': { Args: { 'p_contract': Json }; Returns: undefined }
      'fetch_rows': {
        Args: { 'p_keys': (string)[]; 'p_most_bytes': number; 'p_query': string }
        Returns: (Database['outbox']['CompositeTypes']['source_row'])[]
      }
      'few_open': { Args: { 'p_org_id': string }; Returns: number }
      'field_value': {
        Args: { 'p_attribute': unknown; 'p_column': string; 'p_type': unknown }
        Returns: string
      }
      'fill_broker_template': {
        Args: { 'p_key': string; 'p_org_id': string; 'p_template': string; 'p_type': string }
        Returns: string
      }
      'filter_alternatives': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: Database['outbox']['CompositeTypes']['filter_part']
        SetofOptions: {
          from: '*'
          to: 'filter_part'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_close': {
        Args: {
          'p_state': Database['outbox']['CompositeTypes']['filter_state']
          'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens']
        }
        Returns: Database['outbox']['CompositeTypes']['filter_state']
        SetofOptions: {
          from: '*'
          to: 'filter_state'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_condition': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: Database['outbox']['CompositeTypes']['filter_part']
        SetofOptions: {
          from: '*'
          to: 'filter_part'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_element': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: string
      }
      'filter_leaf': {
        Args: {
          'p_state': Database['outbox']['CompositeTypes']['filter_state']
          'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens']
        }
        Returns: Database['outbox']['CompositeTypes']['filter_state']
        SetofOptions: {
          from: '*'
          to: 'filter_state'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_literal': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: Database['outbox']['CompositeTypes']['filter_part']
        SetofOptions: {
          from: '*'
          to: 'filter_part'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_member': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: string
      }
      'filter_operand': {
        Args: {
          'p_state': Database['outbox']['CompositeTypes']['filter_state']
          'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens']
        }
        Returns: Database['outbox']['CompositeTypes']['filter_state']
        SetofOptions: {
          from: '*'
          to: 'filter_state'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_path': {
        Args: {
          'p_at': number
          'p_is_many': boolean
          'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens']
        }
        Returns: Database['outbox']['CompositeTypes']['filter_part']
        SetofOptions: {
          from: '*'
          to: 'filter_part'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_place': {
        Args: { 'p_at': number; 'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens'] }
        Returns: number
      }
      'filter_problem': {
        Args: {
          'p_doc': Json
          'p_question': Database['outbox']['CompositeTypes']['question']
          'p_steps': number
        }
        Returns: string
      }
      'filter_shown': { Args: { 'p_token': string }; Returns: string }
      'filter_steps': {
        Args: { 'p_value_count': number; 'p_weights': (number)[] }
        Returns: number
      }
      'filter_tokens': {
        Args: { 'p_filter': string }
        Returns: Database['outbox']['CompositeTypes']['filter_tokens']
        SetofOptions: {
          from: '*'
          to: 'filter_tokens'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'filter_where': {
        Args: {
          'p_is_exists': boolean
          'p_path': Database['outbox']['CompositeTypes']['filter_part']
          'p_state': Database['outbox']['CompositeTypes']['filter_state']
          'p_tokens': Database['outbox']['CompositeTypes']['filter_tokens']
        }
        Returns: Database['outbox']['CompositeTypes']['filter_state']
        SetofOptions: {
          from: '*'
          to: 'filter_state'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'find_attempt': {
        Args: {
          'p_callback_data': string
          'p_org_id': string
          'p_phone_number_id': string
          'p_wamid': string
        }
        Returns: {
          'arrived_at': string | null
          'attempt_no': number
          'claim': number
          'created_at': string
          'delivered_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'failed_at': string | null
          'id': number
          'message_id': number
          'next_retry_at': string | null
          'phone_number_id': string
          'provider_response': Json | null
          'read_at': string | null
          'sent_at': string | null
          'status': string
          'taken_at': string | null
          'updated_at': string
          'wamid': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'message_attempt'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'find_attempts': { Args: { 'p_ids': (number)[] }; Returns: undefined }
      'find_channel': {
        Args: { 'p_channel': string; 'p_channel_id': string; 'p_org_id': string }
        Returns: string
      }
      'find_event': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string }
        Returns: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }
        SetofOptions: {
          from: '*'
          to: 'event'
          isOneToOne: true
          isSetofReturn: true
        }
      }
      'find_message_by_key': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: {
          'attempt_count': number
          'category': string
          'channel': string
          'channel_id': string
          'content': string
          'copies': number
          'correlation_id': string | null
          'created_at': string
          'created_by': string | null
          'delivered_at': string | null
          'dossier_id': string | null
          'erased_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'id': number
          'idempotency_key': string
          'max_attempts': number
          'org_id': string
          'payload_json': NonNullable<Json>
          'provider_message_id': string | null
          'read_at': string | null
          'recipient_hash': string | null
          'sent_at': string | null
          'status': string
          'template_code': string | null
          'to_recipient': string
          'updated_at': string
          'wa_id': string | null
        }
        SetofOptions: {
          from: 'outbox.outbound_message'
          to: 'outbound_message'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'find_person': { Args: { 'p_identifier': string; 'p_org_id': string }; Returns: number }
      'find_response': {
        Args: {
          'p_key': string
          'p_now': string
          'p_org_id': string
          'p_request': Json
          'p_route': string
        }
        Returns: Json
      }
      'find_setting': {
        Args: { 'p_name': string }
        Returns: {
          'by_org': boolean
          'description': string
          'form': string | null
          'form_problem': string | null
          'highest': number | null
          'is_url': boolean
          'lowest': number | null
          'name': string
          'type': string
          'updated_at': string
          'value': NonNullable<Json>
        }
        SetofOptions: {
          from: '*'
          to: 'setting'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'finish_change': {
        Args: {
          'p_before': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_headers': Json
        }
        Returns: undefined
      }
      'finish_source': { Args: { 'p_org_id': string }; Returns: boolean }
      'first_ahead': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: 'outbox.routing'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'first_lane_at': { Args: { 'p_from': string; 'p_gate_id': number }; Returns: string }
      'first_lease_end': { Args: { 'p_gate_id': number }; Returns: string }
      'first_retry_at': { Args: { 'p_lane_id': number }; Returns: string }
      'first_waiting': { Args: { 'p_org_id': string }; Returns: string }
      'fix_settings': { Args: Record<PropertyKey, never>; Returns: undefined }
      'fold_apart': { Args: { 'p_now': string; 'p_rows': (unknown)[] }; Returns: number }
      'fold_counters': { Args: Record<PropertyKey, never>; Returns: number }
      'fold_rows': { Args: { 'p_rows': (unknown)[] }; Returns: number }
      'follow_database': {
        Args: {
          'p_binding': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
          'p_database': string
          'p_now': string
        }
        Returns: undefined
      }
      'follow_target': { Args: { 'p_move_id': string; 'p_org_id': string }; Returns: undefined }
      'forget_accepted': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_actions': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_app_secrets': { Args: { 'p_now': string }; Returns: number }
      'forget_batches': { Args: { 'p_run': string; 'p_seq': number }; Returns: undefined }
      'forget_channel': { Args: { 'p_endpoint_id': string; 'p_now': string }; Returns: undefined }
      'forget_dead_letters': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_default_rows': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_early_reports': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_idempotency_keys': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_job_runs': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_lane_refusals': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_lanes': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_refusals': {
        Args: { 'p_endpoints': (string)[]; 'p_events': (string)[] }
        Returns: undefined
      }
      'forget_replay_jobs': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_runs': { Args: { 'p_now': string }; Returns: undefined }
      'forget_saga_keys': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_updates': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'forget_upkeep_refusals': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'found_events': {
        Args: { 'p_correlation_id': string; 'p_key': string; 'p_limit': number; 'p_org_id': string }
        Returns: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }[]
        SetofOptions: {
          from: '*'
          to: 'event'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'found_letters': {
        Args: { 'p_correlation_id': string; 'p_key': string; 'p_limit': number; 'p_org_id': string }
        Returns: {
          'at_broker': boolean
          'attempt': number
          'correlation_id': string
          'delivered_at': string | null
          'discarded_at': string | null
          'endpoint_id': string
          'error': string
          'event_created_at': string
          'event_id': string
          'failed_at': string
          'id': string
          'idempotency_key': string | null
          'note': string | null
          'org_id': string
          'original_message': string
          'original_topic': string
          'partition_key': string | null
          'replayed_at': string | null
          'retry_count': number
          'traceparent': string | null
          'why': string
        }[]
        SetofOptions: {
          from: '*'
          to: 'dead_letter'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'found_messages': {
        Args: {
          'p_correlation_id': string
          'p_event_ids': (string)[]
          'p_key': string
          'p_limit': number
          'p_org_id': string
        }
        Returns: Json
      }
      'free_span': { Args: { 'p_day': string; 'p_table': string }; Returns: unknown }
      'full_orgs': { Args: { 'p_contract': Json }; Returns: (string)[] }
      'gate_metrics': {
        Args: { 'p_now': string }
        Returns: {
          'due_at': string
          'endpoint_id': string
          'failing_since': string
          'failures': number
          'halted': number
          'in_flight': number
          'kind': string
          'open': number
          'org_id': string
          'status': string
        }[]
      }
      'gate_totals': { Args: Record<PropertyKey, never>; Returns: Json }
      'get_channel': { Args: { 'p_channel_id': string; 'p_org_id': string }; Returns: Json }
      'get_channel_access': { Args: { 'p_channel_id': string; 'p_org_id': string }; Returns: Json }
      'get_dead_letter': { Args: { 'p_id': string; 'p_org_id': string }; Returns: Json }
      'get_delivery': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_org_id': string }
        Returns: Json
      }
      'get_event': { Args: { 'p_event_id': string; 'p_org_id': string }; Returns: Json }
      'get_event_type': { Args: { 'p_org_id': string; 'p_type': string }; Returns: Json }
      'get_health': { Args: Record<PropertyKey, never>; Returns: Json }
      'get_message': { Args: { 'p_message_id': string; 'p_org_id': string }; Returns: Json }
      'get_metrics': { Args: Record<PropertyKey, never>; Returns: Json }
      'get_org_endpoint': { Args: { 'p_endpoint_id': string; 'p_org_id': string }; Returns: Json }
      'get_org_overview': { Args: { 'p_minutes'?: number; 'p_org_id': string }; Returns: Json }
      'get_org_secret': { Args: { 'p_endpoint_id': string; 'p_org_id': string }; Returns: Json }
      'get_org_stats': {
        Args: { 'p_endpoint_id': string; 'p_hours'?: number; 'p_org_id': string }
        Returns: Json
      }
      'get_org_test': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_org_id': string }
        Returns: Json
      }
      'get_person': { Args: { 'p_org_id': string; 'p_recipient': string }; Returns: Json }
      'get_replay_job': { Args: { 'p_id': string; 'p_org_id': string }; Returns: Json }
      'get_retry_config': { Args: { 'p_endpoint_id': string; 'p_org_id': string }; Returns: Json }
      'get_saga': { Args: { 'p_by_token'?: boolean; 'p_name': string }; Returns: Json }
      'get_saga_execution': { Args: { 'p_id': string; 'p_org_id': string }; Returns: Json }
      'get_whatsapp_app': { Args: { 'p_app_id': string }; Returns: Json }
      'give_back': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_endpoint_id': string
          'p_now': string
          'p_why': string
        }
        Returns: undefined
      }
      'given_back': {
        Args: { 'p_attempt': number; 'p_endpoint_id': string; 'p_event_id': string }
        Returns: Database['outbox']['CompositeTypes']['result']
        SetofOptions: {
          from: '*'
          to: 'result'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'grant_consent': {
        Args: {
          'p_actor'?: string
          'p_channel'?: string
          'p_dossier_id': string
          'p_evidence'?: string
          'p_org_id': string
          'p_purposes': (string)[]
          'p_source': string
        }
        Returns: Json
      }
      'group_dead_letters': {
        Args: { 'p_endpoint_id'?: string; 'p_from'?: string; 'p_org_id': string }
        Returns: Json
      }
      'had_subscribers': { Args: { 'p_event': string }; Returns: boolean }
      'hand_out': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_known': Json
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['handed']
        SetofOptions: {
          from: '*'
          to: 'handed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'has_anything': { Args: { 'p_org_id': string }; Returns: boolean }
      'has_due': { Args: { 'p_now': string }; Returns: boolean }
      'has_health': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_health': string
        }
        Returns: boolean
      }
      'has_isolated': { Args: { 'p_before': string }; Returns: boolean }
      'has_left': { Args: { 'p_endpoint_id': string; 'p_to': string }; Returns: boolean }
      'has_new': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'has_new_address': { Args: { 'p_new': Json; 'p_old': Json }; Returns: boolean }
      'has_or_had': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: boolean }
      'has_other_secret': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_tried': (string)[] }
        Returns: boolean
      }
      'has_root_order': { Args: { 'p_table': unknown }; Returns: boolean }
      'has_unrefused': {
        Args: { 'p_deliveries': (Database['outbox']['Tables']['delivery']['Row'])[] }
        Returns: boolean
      }
      'has_unrouted': { Args: Record<PropertyKey, never>; Returns: boolean }
      'hash_key': { Args: Record<PropertyKey, never>; Returns: string }
      'hash_person': { Args: { 'p_key': string; 'p_recipient': string }; Returns: string }
      'header_problem': { Args: { 'p_name': string; 'p_value': Json }; Returns: string }
      'heavy_last': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_most': number }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'held_templates': { Args: Record<PropertyKey, never>; Returns: number }
      'hold_after_failures': {
        Args: {
          'p_failures': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'hold_cause': { Args: { 'p_code': string }; Returns: string }
      'hold_channel': {
        Args: {
          'p_at': string
          'p_cause': string
          'p_channel_id': string
          'p_expires_at': string
          'p_held': boolean
          'p_now': string
          'p_why': string
        }
        Returns: undefined
      }
      'hold_channels': {
        Args: {
          'p_endpoint_ids': (string)[]
          'p_now': string
          'p_results': (Database['outbox']['CompositeTypes']['result'])[]
        }
        Returns: (string)[]
      }
      'hold_counters': { Args: Record<PropertyKey, never>; Returns: boolean }
      'hold_events': { Args: Record<PropertyKey, never>; Returns: undefined }
      'hold_move': { Args: { 'p_org_id': string; 'p_run': string }; Returns: boolean }
      'hold_template': {
        Args: {
          'p_now': string
          'p_rule': Omit<
            Database['outbox']['Tables']['notice_rule']['Row'],
            Database['outbox']['Tables']['notice_rule']['ComputedFields']
          >
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
          'p_why': string
        }
        Returns: string
      }
      'hold_unreadable': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_why': string }
        Returns: boolean
      }
      'holds_isolated': { Args: { 'p_now': string; 'p_run': string }; Returns: boolean }
      'host_problem': { Args: { 'p_host': string }; Returns: string }
      'identifier_of': { Args: { 'p_text': string }; Returns: string }
      'in_turn': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: 'outbox.routing'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'inbound_json': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['inbound_message']['Row'],
            Database['outbox']['Tables']['inbound_message']['ComputedFields']
          >
        }
        Returns: Json
      }
      'inbound_text': { Args: { 'p_data': Json }; Returns: string }
      'insert_deliveries': {
        Args: {
          'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[]
          'p_targets': (Database['outbox']['CompositeTypes']['pair_lane'])[]
        }
        Returns: (Database['outbox']['CompositeTypes']['lane_gain'])[]
      }
      'inside_name_problem': { Args: { 'p_name': string }; Returns: string }
      'installed_modules': { Args: Record<PropertyKey, never>; Returns: Json }
      'invalid': {
        Args: { 'p_field': string; 'p_problem': string; 'p_remedy': string }
        Returns: undefined
      }
      'ipv4_number': { Args: { 'p_part': string }; Returns: number }
      'ipv4_of': { Args: { 'p_host': string }; Returns: unknown }
      'ipv6_of': { Args: { 'p_host': string }; Returns: unknown }
      'is_base_url': { Args: { 'p_form': string; 'p_text': string }; Returns: boolean }
      'is_beside': {
        Args: {
          'p_binding': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
          'p_kind': string
          'p_now': string
          'p_project': string
        }
        Returns: boolean
      }
      'is_clean_tonight': {
        Args: { 'p_name': string; 'p_since': string; 'p_today': string; 'p_until': string }
        Returns: boolean
      }
      'is_closed_part': {
        Args: { 'p_now': string; 'p_part': unknown; 'p_table': string }
        Returns: boolean
      }
      'is_crowded': {
        Args: {
          'p_now': string
          'p_run': Omit<
            Database['outbox']['Tables']['run']['Row'],
            Database['outbox']['Tables']['run']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_cut': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_limit': number
          'p_now': string
          'p_routed': number
        }
        Returns: boolean
      }
      'is_event_needed': { Args: { 'p_event_id': string; 'p_since': string }; Returns: boolean }
      'is_for_new': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_isolated_turn': { Args: { 'p_now': string; 'p_run': string }; Returns: boolean }
      'is_late_claim': { Args: Record<PropertyKey, never>; Returns: boolean }
      'is_left': {
        Args: {
          'p_new': string
          'p_old': string
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_left_out': { Args: { 'p_lane_id': number; 'p_now': string }; Returns: boolean }
      'is_network': { Args: { 'p_text': string }; Returns: boolean }
      'is_new_link': { Args: { 'p_identifiers': (string)[]; 'p_org_id': string }; Returns: boolean }
      'is_open_between': { Args: { 'p_since': string; 'p_until': string }; Returns: boolean }
      'is_own_row': { Args: { 'p_xmin': unknown }; Returns: boolean }
      'is_pair_known': {
        Args: {
          'p_endpoint_id': string
          'p_event_id': string
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_passing': { Args: { 'p_sqlstate': string }; Returns: boolean }
      'is_port_range': { Args: { 'p_text': string }; Returns: boolean }
      'is_public': { Args: { 'p_address': unknown }; Returns: boolean }
      'is_quiet': { Args: { 'p_now': string }; Returns: boolean }
      'is_reachable': { Args: { 'p_address': unknown }; Returns: boolean }
      'is_restoring': { Args: Record<PropertyKey, never>; Returns: boolean }
      'is_retryable': {
        Args: { 'p_code'?: string; 'p_error_class': string; 'p_kind': string; 'p_status': number }
        Returns: boolean
      }
      'is_sent': { Args: { 'p_kind': string; 'p_now': string }; Returns: boolean }
      'is_shared': {
        Args: {
          'p_now': string
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_slow_row': {
        Args: { 'p_now': string; 'p_row': unknown; 'p_table': unknown; 'p_task': string }
        Returns: boolean
      }
      'is_template_held': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: boolean
      }
      'is_timeout': { Args: { 'p_sqlstate': string }; Returns: boolean }
      'is_unsent': { Args: { 'p_endpoint_id': string; 'p_unsent': (string)[] }; Returns: boolean }
      'iso_time': { Args: { 'p_at': string }; Returns: string }
      'isolate': {
        Args: { 'p_lost': (Database['outbox']['CompositeTypes']['result'])[]; 'p_now': string }
        Returns: undefined
      }
      'isolated_after': { Args: Record<PropertyKey, never>; Returns: number }
      'job_deadline': { Args: Record<PropertyKey, never>; Returns: string }
      'job_filter': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['filter']
        SetofOptions: {
          from: 'outbox.replay_job'
          to: 'filter'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'job_names': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'job_shares': {
        Args: { 'p_is_backfill': boolean; 'p_job_id'?: number; 'p_now': string }
        Returns: {
          'job_id': number
          'parts': number
        }[]
      }
      'job_statuses': { Args: Record<PropertyKey, never>; Returns: Json }
      'join_people': {
        Args: {
          'p_links': (Database['outbox']['CompositeTypes']['person_link'])[]
          'p_now': string
        }
        Returns: (number)[]
      }
      'join_two': {
        Args: { 'p_gone': number; 'p_keep': number; 'p_now': string }
        Returns: undefined
      }
      'joined': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_more': Database['outbox']['CompositeTypes']['claimed']
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'json_function': { Args: { 'p_type': unknown }; Returns: string }
      'judge': {
        Args: { 'p_has_retry': boolean; 'p_outcomes': (string)[]; 'p_status': string }
        Returns: string
      }
      'judge_messages': {
        Args: { 'p_messages': (number)[]; 'p_now': string }
        Returns: (Database['outbox']['CompositeTypes']['changed_message'])[]
      }
      'judge_statuses': {
        Args: { 'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[] }
        Returns: (Database['outbox']['CompositeTypes']['status_change'])[]
      }
      'keep_report': {
        Args: {
          'p_at': string
          'p_channel_id': string
          'p_code': string
          'p_error': string
          'p_now': string
          'p_provider_id': string
          'p_status': string
        }
        Returns: undefined
      }
      'keep_secret': {
        Args: { 'p_description': string; 'p_name': string; 'p_value': string }
        Returns: undefined
      }
      'keep_secrets': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_now': string; 'p_secret_ids': (string)[] }
        Returns: undefined
      }
      'kept_action': {
        Args: {
          'p_event_id': string
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
        }
        Returns: string
      }
      'kept_problem': {
        Args: {
          'p_body': string
          'p_event': Database['outbox']['CompositeTypes']['kept_event']
          'p_filter': Database['outbox']['CompositeTypes']['filter']
        }
        Returns: string
      }
      'key_bound': {
        Args: { 'p_columns': (string)[]; 'p_key': string; 'p_operator': string }
        Returns: string
      }
      'key_columns': { Args: { 'p_table': unknown }; Returns: (string)[] }
      'key_hash': { Args: { 'p_ordering': string; 'p_partition_key': string }; Returns: number }
      'key_order': { Args: { 'p_columns': (string)[]; 'p_direction'?: string }; Returns: string }
      'key_parts': { Args: { 'p_table': unknown }; Returns: (string)[] }
      'key_text': { Args: { 'p_columns': (string)[] }; Returns: string }
      'key_to_cursor': { Args: { 'p_key': string }; Returns: string }
      'key_window': { Args: Record<PropertyKey, never>; Returns: string }
      'keyless_events': { Args: { 'p_newest': number; 'p_org_id': string }; Returns: number }
      'kick': { Args: { 'p_why': string }; Returns: boolean }
      'kick_on_commit': { Args: Record<PropertyKey, never>; Returns: undefined }
      'kick_problem': { Args: { 'p_now': string }; Returns: string }
      'kick_responses': { Args: Record<PropertyKey, never>; Returns: Json }
      'kicks_paused': { Args: { 'p_now': string }; Returns: boolean }
      'kicks_waiting': { Args: Record<PropertyKey, never>; Returns: number }
      'kind_problem': { Args: { 'p_now': string }; Returns: string }
      'known_person': { Args: { 'p_identifiers': (string)[]; 'p_org_id': string }; Returns: number }
      'lacks_transaction_ids': { Args: Record<PropertyKey, never>; Returns: boolean }
      'lane_due_at': {
        Args: { 'p_from': string; 'p_gate_id': number; 'p_isolated': boolean; 'p_now': string }
        Returns: string
      }
      'lane_keys_of': { Args: { 'p_number': string; 'p_org_id': string }; Returns: (string)[] }
      'lane_quantum': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_quantum': number }
        Returns: number
      }
      'lanes_of_pairs': {
        Args: { 'p_now': string; 'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[] }
        Returns: (Database['outbox']['CompositeTypes']['pair_lane'])[]
      }
      'lanes_to_try': {
        Args: { 'p_endpoint_id': string; 'p_most': number; 'p_now': string }
        Returns: (number)[]
      }
      'last_attempt': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: number }
      'last_key': { Args: { 'p_table': unknown }; Returns: string }
      'last_tick_at': { Args: Record<PropertyKey, never>; Returns: string }
      'late_parts': {
        Args: {
          'p_most'?: number
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: (Database['outbox']['CompositeTypes']['part'])[]
      }
      'latency_bounds': { Args: Record<PropertyKey, never>; Returns: (number)[] }
      'later_number': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: string
      }
      'latest_event_time': { Args: Record<PropertyKey, never>; Returns: string }
      'lay_aside': {
        Args: {
          'p_again_at': string
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'lease_deliveries': {
        Args: {
          'p_endpoint_ids': (string)[]
          'p_isolated'?: boolean
          'p_limit': number
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'leave_endpoint': { Args: { 'p_endpoint_id': string; 'p_to': string }; Returns: undefined }
      'leave_lane': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_lane': Omit<
            Database['outbox']['Tables']['lane']['Row'],
            Database['outbox']['Tables']['lane']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'leave_number': {
        Args: {
          'p_now': string
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: string
      }
      'leave_source': { Args: { 'p_org_id': string; 'p_target': Json }; Returns: undefined }
      'let_pass': {
        Args: {
          'p_again_at': string
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_is_slow': boolean
          'p_now': string
        }
        Returns: undefined
      }
      'letter_key': {
        Args: {
          'p_letter': Omit<
            Database['outbox']['Tables']['dead_letter']['Row'],
            Database['outbox']['Tables']['dead_letter']['ComputedFields']
          >
        }
        Returns: string
      }
      'lift_expired_holds': { Args: { 'p_now': string }; Returns: number }
      'limit_gauges': { Args: { 'p_now': string }; Returns: Json }
      'limit_warnings': { Args: { 'p_now': string }; Returns: (string)[] }
      'links_of_responses': {
        Args: { 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: (Database['outbox']['CompositeTypes']['person_link'])[]
      }
      'links_of_updates': {
        Args: { 'p_ids': (number)[] }
        Returns: (Database['outbox']['CompositeTypes']['person_link'])[]
      }
      'list_activity': {
        Args: {
          'p_activity_type'?: string
          'p_cursor'?: string
          'p_dossier_id'?: string
          'p_limit'?: number
          'p_org_id': string
        }
        Returns: Json
      }
      'list_all_dead_letters': {
        Args: { 'p_cursor'?: string; 'p_limit'?: number; 'p_status'?: string }
        Returns: Json
      }
      'list_attempts': {
        Args: {
          'p_cursor'?: string
          'p_endpoint_id': string
          'p_event_id': string
          'p_limit'?: number
          'p_org_id': string
        }
        Returns: Json
      }
      'list_audit_events': {
        Args: {
          'p_actor'?: string
          'p_audit_action'?: string
          'p_correlation_id'?: string
          'p_cursor'?: string
          'p_entity_id'?: string
          'p_entity_type'?: string
          'p_from'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_channels': { Args: { 'p_org_id': string }; Returns: Json }
      'list_consents': { Args: { 'p_dossier_id': string; 'p_org_id': string }; Returns: Json }
      'list_consumers': { Args: { 'p_event_id'?: string }; Returns: Json }
      'list_dead_letters': {
        Args: {
          'p_cursor'?: string
          'p_endpoint_id'?: string
          'p_error'?: string
          'p_event_type'?: string
          'p_from'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_status'?: string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_deliveries': {
        Args: {
          'p_cursor'?: string
          'p_due_from'?: string
          'p_due_to'?: string
          'p_endpoint_id'?: string
          'p_event_type'?: string
          'p_from'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_status'?: string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_event_type_changes': {
        Args: {
          'p_cursor'?: string
          'p_event_type'?: string
          'p_limit'?: number
          'p_org_id': string
        }
        Returns: Json
      }
      'list_event_types': {
        Args: { 'p_cursor'?: string; 'p_limit'?: number; 'p_org_id': string }
        Returns: Json
      }
      'list_events': {
        Args: {
          'p_cursor'?: string
          'p_event_type'?: string
          'p_from'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_partition_key'?: string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_inbound_messages': {
        Args: {
          'p_channel_id'?: string
          'p_cursor'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_recipient'?: string
        }
        Returns: Json
      }
      'list_messages': {
        Args: {
          'p_channel'?: string
          'p_correlation_id'?: string
          'p_cursor'?: string
          'p_dossier_id'?: string
          'p_from'?: string
          'p_idempotency_key'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_recipient'?: string
          'p_status'?: string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_opt_outs': {
        Args: {
          'p_cursor'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_recipient'?: string
        }
        Returns: Json
      }
      'list_org_attempts': {
        Args: {
          'p_cursor'?: string
          'p_endpoint_id'?: string
          'p_from'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_outcome'?: string
          'p_to'?: string
        }
        Returns: Json
      }
      'list_org_endpoints': {
        Args: {
          'p_cursor'?: string
          'p_health'?: string
          'p_limit'?: number
          'p_org_id': string
          'p_search'?: string
          'p_status'?: string
        }
        Returns: Json
      }
      'list_org_settings': { Args: { 'p_all'?: boolean; 'p_org_id': string }; Returns: Json }
      'list_replay_jobs': {
        Args: { 'p_cursor'?: string; 'p_limit'?: number; 'p_org_id': string }
        Returns: Json
      }
      'list_reply_words': { Args: { 'p_org_id': string }; Returns: Json }
      'list_revoked_portal_tokens': {
        Args: { 'p_cursor'?: string; 'p_limit'?: number; 'p_org_id': string }
        Returns: Json
      }
      'list_runs': { Args: Record<PropertyKey, never>; Returns: Json }
      'list_sagas': { Args: { 'p_by_token'?: boolean }; Returns: Json }
      'list_templates': { Args: { 'p_org_id': string }; Returns: Json }
      'list_workers': { Args: Record<PropertyKey, never>; Returns: Json }
      'live_runs': {
        Args: {
          'p_before'?: Omit<
            Database['outbox']['Tables']['run']['Row'],
            Database['outbox']['Tables']['run']['ComputedFields']
          >
          'p_now': string
        }
        Returns: number
      }
      'lock_arrival': { Args: { 'p_endpoint_id': string; 'p_from': string }; Returns: boolean }
      'lock_channel': { Args: { 'p_channel_id': string; 'p_org_id': string }; Returns: string }
      'lock_deleted': { Args: { 'p_endpoint_id': string }; Returns: number }
      'lock_endpoint': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_events': { Args: { 'p_event_ids': (string)[] }; Returns: (string)[] }
      'lock_free_gates': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_held': (string)[] }
        Returns: (string)[]
      }
      'lock_gates': { Args: { 'p_endpoint_ids': (string)[] }; Returns: undefined }
      'lock_idle_endpoint': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_links': {
        Args: {
          'p_links': (Database['outbox']['CompositeTypes']['person_link'])[]
          'p_now': string
        }
        Returns: (Database['outbox']['CompositeTypes']['linked_identifier'])[]
      }
      'lock_message': {
        Args: { 'p_message_id': string; 'p_org_id': string }
        Returns: {
          'attempt_count': number
          'category': string
          'channel': string
          'channel_id': string
          'content': string
          'copies': number
          'correlation_id': string | null
          'created_at': string
          'created_by': string | null
          'delivered_at': string | null
          'dossier_id': string | null
          'erased_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'id': number
          'idempotency_key': string
          'max_attempts': number
          'org_id': string
          'payload_json': NonNullable<Json>
          'provider_message_id': string | null
          'read_at': string | null
          'recipient_hash': string | null
          'sent_at': string | null
          'status': string
          'template_code': string | null
          'to_recipient': string
          'updated_at': string
          'wa_id': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'outbound_message'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_open_delivery': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string }
        Returns: {
          'attempt': number
          'body_bytes': number
          'deliver_at': string | null
          'due_at': string
          'endpoint_id': string
          'event_id': string
          'failed_attempts': number
          'lane_id': number
          'leased_until': string | null
          'lost_before': number
          'lost_leases': number
          'rejected_secrets': (string)[] | null
          'replayed_at': string | null
          'secret_id': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'delivery'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_org_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string; 'p_version': number }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_org_gates': { Args: { 'p_org_id': string }; Returns: (string)[] }
      'lock_people': {
        Args: {
          'p_linked': (Database['outbox']['CompositeTypes']['linked_identifier'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'lock_router': {
        Args: Record<PropertyKey, never>
        Returns: {
          'batch': number
          'last_org': string
          'open_xids': (unknown)[]
          'seen_below': unknown
          'shared_at': string
          'turn': number
          'watermark': string
        }
        SetofOptions: {
          from: '*'
          to: 'router'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'lock_source': {
        Args: {
          'p_keys': (string)[]
          'p_limit': number
          'p_source': Omit<
            Database['outbox']['Tables']['backfill_source']['Row'],
            Database['outbox']['Tables']['backfill_source']['ComputedFields']
          >
          'p_watch': Json
        }
        Returns: (Database['outbox']['CompositeTypes']['source_row'])[]
      }
      'lost': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['result']
        SetofOptions: {
          from: 'outbox.delivery'
          to: 'result'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'make_due': {
        Args: { 'p_delay': string; 'p_endpoint_id': string; 'p_event_id': string }
        Returns: Json
      }
      'mark_delivered': {
        Args: { 'p_endpoint_id'?: string; 'p_org_id'?: string; 'p_until': string; 'p_why'?: string }
        Returns: Json
      }
      'mark_endpoint': {
        Args: {
          'p_endpoint_id': string
          'p_mark': Omit<
            Database['outbox']['Tables']['delivered_mark']['Row'],
            Database['outbox']['Tables']['delivered_mark']['ComputedFields']
          >
          'p_most': number
          'p_now': string
        }
        Returns: {
          'at_endpoint': string | null
          'created_at': string
          'endpoint_id': string | null
          'finished_at': string | null
          'id': number
          'left_until': string | null
          'marked': number
          'org_id': string | null
          'resume_at': string
          'routed': boolean
          'started_by': string
          'until_at': string
          'why': string
        }
        SetofOptions: {
          from: '*'
          to: 'delivered_mark'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'mark_member': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: string }
      'mark_next': {
        Args: {
          'p_mark': Omit<
            Database['outbox']['Tables']['delivered_mark']['Row'],
            Database['outbox']['Tables']['delivered_mark']['ComputedFields']
          >
          'p_now': string
        }
        Returns: {
          'at_endpoint': string | null
          'created_at': string
          'endpoint_id': string | null
          'finished_at': string | null
          'id': number
          'left_until': string | null
          'marked': number
          'org_id': string | null
          'resume_at': string
          'routed': boolean
          'started_by': string
          'until_at': string
          'why': string
        }
        SetofOptions: {
          from: '*'
          to: 'delivered_mark'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'mark_one': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
          'p_why': string
        }
        Returns: boolean
      }
      'mark_sent': {
        Args: {
          'p_attempt': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_now': string
          'p_provider': Json
          'p_wamid': string
        }
        Returns: undefined
      }
      'mark_sent_late': { Args: { 'p_callback_data': string; 'p_wamid': string }; Returns: string }
      'masked_slack_url': { Args: { 'p_url': string }; Returns: string }
      'may_have_status': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_status': string }
        Returns: boolean
      }
      'may_notify': { Args: { 'p_queue_usage': number }; Returns: boolean }
      'may_queue_kick': { Args: { 'p_url': string; 'p_why': string }; Returns: boolean }
      'may_stay': { Args: { 'p_sqlstate': string }; Returns: boolean }
      'message_hash': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: string
      }
      'message_json': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: Json
      }
      'messages_of_correlation': {
        Args: { 'p_correlation_id': string; 'p_limit': number; 'p_org_id': string }
        Returns: (number)[]
      }
      'misses_pg_cron': { Args: Record<PropertyKey, never>; Returns: boolean }
      'missing_in_vault': { Args: { 'p_what': string }; Returns: undefined }
      'missing_indexes': {
        Args: { 'p_now': string }
        Returns: {
          'definition': string
          'index': unknown
          'part': unknown
        }[]
      }
      'module_counters': { Args: Record<PropertyKey, never>; Returns: Json }
      'module_gauges': { Args: Record<PropertyKey, never>; Returns: Json }
      'module_problem': { Args: Record<PropertyKey, never>; Returns: string }
      'module_versions': { Args: Record<PropertyKey, never>; Returns: Json }
      'more_counters': {
        Args: Record<PropertyKey, never>
        Returns: {
          'labels': (string)[]
          'metric': string
          'n': number
          'total': number
        }[]
      }
      'more_gauges': {
        Args: Record<PropertyKey, never>
        Returns: {
          'labels': (string)[]
          'metric': string
          'value': number
        }[]
      }
      'more_problems': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'more_secrets': {
        Args: { 'p_endpoint_id': string }
        Returns: {
          'remedy': string
          'vault_id': string
          'what': string
        }[]
      }
      'most_attempts': { Args: { 'p_endpoint_id': string }; Returns: number }
      'most_early_reports': { Args: Record<PropertyKey, never>; Returns: number }
      'most_event_bytes': { Args: { 'p_org_id': string }; Returns: number }
      'most_failures': { Args: { 'p_is_passing': boolean }; Returns: number }
      'most_filter_steps': { Args: Record<PropertyKey, never>; Returns: number }
      'most_of_org': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'most_passed': { Args: Record<PropertyKey, never>; Returns: number }
      'most_row_bytes': { Args: Record<PropertyKey, never>; Returns: number }
      'most_rows': {
        Args: {
          'p_is_selected': boolean
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
        }
        Returns: number
      }
      'most_width': { Args: Record<PropertyKey, never>; Returns: number }
      'move_back': { Args: { 'p_now': string; 'p_rows': (unknown)[] }; Returns: undefined }
      'move_backfill': {
        Args: {
          'p_added': number
          'p_at_id': string
          'p_is_done': boolean
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_looked': number
          'p_now': string
          'p_skipped': number
        }
        Returns: undefined
      }
      'move_blockers': { Args: { 'p_org_id': string }; Returns: (string)[] }
      'move_reason': {
        Args: {
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: string
      }
      'move_sentence': {
        Args: {
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: string
      }
      'move_status': { Args: { 'p_org_id': string }; Returns: Json }
      'move_totals': { Args: { 'p_org_id': string }; Returns: Json }
      'moved_status': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: Json
      }
      'name_columns_of': {
        Args: { 'p_call': string; 'p_columns': (string)[]; 'p_list': string; 'p_table': unknown }
        Returns: undefined
      }
      'named_columns': { Args: { 'p_table': unknown; 'p_watch': Json }; Returns: Json }
      'near_limits': {
        Args: { 'p_now': string }
        Returns: {
          'detail': string
          'name': string
          'problem': string
        }[]
      }
      'net_requests': { Args: Record<PropertyKey, never>; Returns: number }
      'new_backfill': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_filter': string
          'p_from': string
          'p_include_delivered'?: boolean
          'p_rate_per_second': number
          'p_source': string
          'p_to': string
          'p_total': number
          'p_types': (string)[]
        }
        Returns: number
      }
      'new_event': {
        Args: {
          'p_at': string
          'p_body': string
          'p_correlation_id': string
          'p_deliver_at': string
          'p_endpoint_id': string
          'p_idempotency_key': string
          'p_org_id': string
          'p_partition_key': string
          'p_traceparent': string
          'p_type': string
        }
        Returns: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }
        SetofOptions: {
          from: '*'
          to: 'event'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'new_lane_error': { Args: { 'p_gate_id': number; 'p_now': string }; Returns: (string)[] }
      'new_number': { Args: { 'p_data': Json }; Returns: string }
      'new_parts': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: Record<string, unknown>
      }
      'new_secret': { Args: Record<PropertyKey, never>; Returns: string }
      'newest_to_lease': {
        Args: { 'p_endpoint_id': string; 'p_most': number; 'p_now': string }
        Returns: (Database['outbox']['Tables']['delivery']['Row'])[]
      }
      'next_backfill': {
        Args: { 'p_now': string }
        Returns: {
          'after_xid': unknown
          'at_failed': string
          'at_id': string
          'begun_at': string | null
          'by_api': boolean
          'by_subscription': boolean
          'created_at': string
          'endpoint_id': string | null
          'error': string | null
          'event_type': string | null
          'except_type': string | null
          'failed_from': string | null
          'failed_to': string
          'filter': string | null
          'finished_at': string | null
          'id': number
          'include_delivered': boolean
          'looked': number
          'org_id': string | null
          'rate_per_second': number
          'replayed': number
          'skipped': number
          'source': string
          'status': string
          'total': number | null
          'types': (string)[] | null
          'until_at': string | null
          'waits_for': string | null
          'worked_at': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'replay_job'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'next_kept': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_rows': number
        }
        Returns: Database['outbox']['CompositeTypes']['kept_event'][]
        SetofOptions: {
          from: '*'
          to: 'kept_event'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'next_letters': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most'?: number
          'p_rows'?: number
        }
        Returns: (Database['outbox']['CompositeTypes']['replay_step'])[]
      }
      'next_replays': {
        Args: { 'p_now': string }
        Returns: (Database['outbox']['CompositeTypes']['replay_step'])[]
      }
      'next_token_at': {
        Args: { 'p_rate_per_second': number; 'p_tokens': number; 'p_tokens_at': string }
        Returns: string
      }
      'next_unrouted': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: (string)[]
      }
      'note_action': {
        Args: {
          'p_action': string
          'p_data'?: Json
          'p_details': string
          'p_entity_id': string
          'p_entity_type': string
          'p_org_id': string
        }
        Returns: undefined
      }
      'note_batch': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_run': string
          'p_seq': number
        }
        Returns: undefined
      }
      'note_binding': {
        Args: {
          'p_action': string
          'p_by': string
          'p_now': string
          'p_result'?: Json
          'p_was': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'note_change': {
        Args: { 'p_endpoint_id': string; 'p_headers': Json; 'p_members': (string)[] }
        Returns: undefined
      }
      'note_delivery': {
        Args: {
          'p_action': string
          'p_details': string
          'p_endpoint_id': string
          'p_event_id': string
        }
        Returns: undefined
      }
      'note_endpoint': {
        Args: { 'p_action': string; 'p_data'?: Json; 'p_details': string; 'p_endpoint_id': string }
        Returns: undefined
      }
      'note_foreign_kick': { Args: { 'p_most': number; 'p_now': string }; Returns: undefined }
      'note_move': {
        Args: {
          'p_action': string
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'note_refusal': {
        Args: {
          'p_again_at': string
          'p_endpoint_id': string
          'p_error': string
          'p_event_id': string
          'p_now': string
          'p_sqlstate': string
          'p_step': string
        }
        Returns: undefined
      }
      'note_setting': {
        Args: { 'p_name': string; 'p_org_id': string; 'p_value': Json; 'p_was': Json }
        Returns: undefined
      }
      'note_skipped': {
        Args: { 'p_job_id': number; 'p_last': string; 'p_rows': number }
        Returns: undefined
      }
      'note_timeouts': {
        Args: {
          'p_now': string
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: number
      }
      'note_traffic': { Args: { 'p_limit': number; 'p_now': string }; Returns: undefined }
      'notice_end': { Args: { 'p_data': Json }; Returns: string }
      'notice_reason': { Args: { 'p_data': Json }; Returns: string }
      'notice_rule_of': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: {
          'action': string
          'cause': string
          'event': string
          'field': string
          'title': string
        }
        SetofOptions: {
          from: 'outbox.whatsapp_update'
          to: 'notice_rule'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'notify_workers': { Args: Record<PropertyKey, never>; Returns: boolean }
      'number_variants': { Args: { 'p_recipient': string }; Returns: (string)[] }
      'occupied_by': { Args: { 'p_org_id': string }; Returns: string }
      'old_deliveries': {
        Args: { 'p_before': string; 'p_limit': number; 'p_now': string }
        Returns: (Database['outbox']['Tables']['delivery']['Row'])[]
      }
      'older_sessions': { Args: { 'p_below': unknown }; Returns: (number)[] }
      'older_transactions': { Args: Record<PropertyKey, never>; Returns: string }
      'oldest_new': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: string
      }
      'oldest_unrouted': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: string
      }
      'oldest_waiting': { Args: Record<PropertyKey, never>; Returns: string }
      'on_claimed': {
        Args: { 'p_claimed': Database['outbox']['CompositeTypes']['claimed']; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'on_closed': {
        Args: { 'p_event_id': string; 'p_now': string; 'p_outcome': string; 'p_why': string }
        Returns: undefined
      }
      'on_dead_letters': {
        Args: { 'p_endpoints': (string)[]; 'p_events': (string)[]; 'p_now': string }
        Returns: undefined
      }
      'on_parcel': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_parcel': Database['outbox']['CompositeTypes']['parcel']
        }
        Returns: Database['outbox']['CompositeTypes']['parcel']
        SetofOptions: {
          from: '*'
          to: 'parcel'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'on_purged': {
        Args: { 'p_endpoint_id': string; 'p_limit': number; 'p_now': string }
        Returns: number
      }
      'on_results': {
        Args: {
          'p_news': Database['outbox']['CompositeTypes']['news']
          'p_now': string
          'p_results': (Database['outbox']['CompositeTypes']['result'])[]
        }
        Returns: Database['outbox']['CompositeTypes']['news']
        SetofOptions: {
          from: '*'
          to: 'news'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'open_audit_list': {
        Args: {
          'p_actor': string
          'p_audit_action': string
          'p_below': number
          'p_correlation_id': string
          'p_entity_id': string
          'p_entity_type': string
          'p_org_id': string
        }
        Returns: unknown
      }
      'open_delivery_list': {
        Args: {
          'p_below': Database['outbox']['CompositeTypes']['delivery_key']
          'p_from': string
          'p_org_id': string
          'p_status': string
        }
        Returns: unknown
      }
      'open_depth': { Args: { 'p_org_id': string }; Returns: number }
      'open_endpoint': { Args: { 'p_endpoint_id': string; 'p_from': string }; Returns: undefined }
      'open_event_ids': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: (string)[]
      }
      'open_event_list': {
        Args: {
          'p_below': string
          'p_event_type': string
          'p_from': string
          'p_most_rows': number
          'p_org_id': string
          'p_partition_key': string
        }
        Returns: unknown
      }
      'open_letter_list': {
        Args: {
          'p_at': string
          'p_endpoint_id': string
          'p_from': string
          'p_id': string
          'p_org_id': string
        }
        Returns: unknown
      }
      'open_pairs': { Args: { 'p_after': string; 'p_org_id': string }; Returns: Json }
      'open_publishing': { Args: { 'p_now': string; 'p_org_id': string }; Returns: undefined }
      'open_target': { Args: { 'p_move_id': string; 'p_org_id': string }; Returns: undefined }
      'open_waiting_list': {
        Args: { 'p_endpoint_id': string; 'p_from': string; 'p_to': string }
        Returns: unknown
      }
      'open_window': {
        Args: { 'p_at': string; 'p_channel_id': string; 'p_person_id': number }
        Returns: undefined
      }
      'opt_in_recipient': {
        Args: {
          'p_channel'?: string
          'p_org_id': string
          'p_purpose'?: string
          'p_recipient': string
        }
        Returns: Json
      }
      'opt_out_changes': {
        Args: {
          'p_at': string
          'p_lifted': boolean
          'p_purposes': (string)[]
          'p_recipient': string
          'p_source': string
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
          'p_words': string
        }
        Returns: (Database['outbox']['CompositeTypes']['opt_out_change'])[]
      }
      'opt_out_json': {
        Args: {
          'p_opt_out': Omit<
            Database['outbox']['Tables']['opt_out']['Row'],
            Database['outbox']['Tables']['opt_out']['ComputedFields']
          >
        }
        Returns: Json
      }
      'opt_out_recipient': {
        Args: {
          'p_channel'?: string
          'p_org_id': string
          'p_purpose'?: string
          'p_recipient': string
          'p_source': string
        }
        Returns: Json
      }
      'opt_outs_of_responses': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: (Database['outbox']['CompositeTypes']['opt_out_change'])[]
      }
      'org_dead_letter': {
        Args: { 'p_id': string; 'p_org_id': string }
        Returns: {
          'at_broker': boolean
          'attempt': number
          'correlation_id': string
          'delivered_at': string | null
          'discarded_at': string | null
          'endpoint_id': string
          'error': string
          'event_created_at': string
          'event_id': string
          'failed_at': string
          'id': string
          'idempotency_key': string | null
          'note': string | null
          'org_id': string
          'original_message': string
          'original_topic': string
          'partition_key': string | null
          'replayed_at': string | null
          'retry_count': number
          'traceparent': string | null
          'why': string
        }
        SetofOptions: {
          from: '*'
          to: 'dead_letter'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'org_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string }
        Returns: {
          'breaker_enabled': boolean
          'breaker_open_ms': number
          'breaker_threshold': number
          'config': Json | null
          'created_at': string
          'credentials_vault_id': string | null
          'description': string
          'header_names': (string)[]
          'headers_vault_id': string | null
          'id': string
          'is_purged': boolean
          'kind': string
          'lane_spacing_ms': number
          'max_in_flight': number
          'on_dead_letter': string
          'ordering': string
          'org_id': string
          'payload': string
          'quantum': number
          'ramp_from': string
          'rate_burst': number
          'rate_per_second': number | null
          'retry': Json | null
          'retry_4xx': boolean
          'status': string
          'status_reason': string | null
          'timeout_ms': number
          'updated_at': string
          'url': string
          'version': number
        }
        SetofOptions: {
          from: '*'
          to: 'endpoint'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'org_of_event': { Args: { 'p_event_id': string }; Returns: string }
      'org_pairs_end': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_most': number }
        Returns: number
      }
      'org_secret_json': { Args: { 'p_read': Json }; Returns: Json }
      'org_setting_int': { Args: { 'p_name': string; 'p_org_id': string }; Returns: number }
      'org_width': { Args: { 'p_org_id': string }; Returns: number }
      'own_open_list': {
        Args: {
          'p_below': Database['outbox']['CompositeTypes']['delivery_key']
          'p_from': string
          'p_org_id': string
        }
        Returns: unknown
      }
      'pace_of': {
        Args: { 'p_messages_per_second': number }
        Returns: Database['outbox']['CompositeTypes']['pace']
        SetofOptions: {
          from: '*'
          to: 'pace'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'paired_rows': { Args: Record<PropertyKey, never>; Returns: string }
      'park': {
        Args: {
          'p_claimed'?: Database['outbox']['CompositeTypes']['claimed']
          'p_endpoint_ids': (string)[]
          'p_now': string
        }
        Returns: undefined
      }
      'park_apart': { Args: { 'p_endpoint_ids': (string)[]; 'p_now': string }; Returns: undefined }
      'park_unsent': { Args: { 'p_now': string }; Returns: undefined }
      'parse_headers': { Args: { 'p_text': string }; Returns: Json }
      'parse_message_id': { Args: { 'p_message_id': string }; Returns: number }
      'part_off': {
        Args: {
          'p_actor': string
          'p_at': string
          'p_identifiers': (string)[]
          'p_now': string
          'p_person_id': number
        }
        Returns: number
      }
      'part_person': {
        Args: { 'p_actor'?: string; 'p_org_id': string; 'p_recipients': (string)[] }
        Returns: Json
      }
      'partition_bound': { Args: { 'p_at': string; 'p_table': string }; Returns: string }
      'partition_checks': {
        Args: { 'p_now': string }
        Returns: {
          'detail': string
          'problem': string
        }[]
      }
      'partition_columns': { Args: { 'p_table': unknown }; Returns: Json }
      'partition_floor': { Args: { 'p_id': string }; Returns: string }
      'partition_name': { Args: { 'p_day': string; 'p_table': string }; Returns: string }
      'partitions': {
        Args: { 'p_table': string }
        Returns: {
          'name': string
          'part': unknown
          'since': string
          'until': string
        }[]
      }
      'passes_filters': {
        Args: { 'p_doc': Json; 'p_question': Database['outbox']['CompositeTypes']['question'] }
        Returns: boolean
      }
      'passes_turn': { Args: Record<PropertyKey, never>; Returns: boolean }
      'pause_endpoint': { Args: { 'p_endpoint_id': string; 'p_reason'?: string }; Returns: Json }
      'pause_for_move': {
        Args: {
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'pause_org_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string; 'p_reason'?: string }
        Returns: Json
      }
      'people_with': {
        Args: { 'p_hash': string; 'p_org_id': string; 'p_value': string }
        Returns: {
          'person_id': number
        }[]
      }
      'period_end': { Args: { 'p_period': string }; Returns: string }
      'period_of': { Args: { 'p_event_id': string }; Returns: string }
      'person_json': { Args: { 'p_person_id': number }; Returns: Json }
      'person_key': { Args: { 'p_recipient': string }; Returns: string }
      'pick_columns': { Args: { 'p_named': Json; 'p_row': Json }; Returns: Json }
      'place_between': { Args: { 'p_above': string; 'p_below': string }; Returns: string }
      'plain_change': {
        Args: { 'p_named': Json; 'p_new': Json; 'p_old': Json }
        Returns: Database['outbox']['CompositeTypes']['watched_change']
        SetofOptions: {
          from: '*'
          to: 'watched_change'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'plain_type': { Args: { 'p_type': unknown }; Returns: string }
      'plain_word': { Args: { 'p_text': string }; Returns: string }
      'port_allowed': { Args: { 'p_port': number }; Returns: boolean }
      'port_ranges': { Args: { 'p_ranges': Json }; Returns: unknown }
      'portal_generation': { Args: { 'p_org_id': string }; Returns: number }
      'portal_revocations': { Args: { 'p_org_id': string }; Returns: Json }
      'postpone_isolated': { Args: { 'p_endpoint_id': string; 'p_now': string }; Returns: boolean }
      'postpone_updates': {
        Args: { 'p_error': string; 'p_ids': (number)[]; 'p_now': string; 'p_sqlstate': string }
        Returns: undefined
      }
      'preview_backfill': {
        Args: { 'p_endpoint_id': string; 'p_job': Json; 'p_org_id': string }
        Returns: Json
      }
      'preview_job': {
        Args: { 'p_endpoint_id': string; 'p_job': Json; 'p_org_id': string }
        Returns: {
          'after_xid': unknown
          'at_failed': string
          'at_id': string
          'begun_at': string | null
          'by_api': boolean
          'by_subscription': boolean
          'created_at': string
          'endpoint_id': string | null
          'error': string | null
          'event_type': string | null
          'except_type': string | null
          'failed_from': string | null
          'failed_to': string
          'filter': string | null
          'finished_at': string | null
          'id': number
          'include_delivered': boolean
          'looked': number
          'org_id': string | null
          'rate_per_second': number
          'replayed': number
          'skipped': number
          'source': string
          'status': string
          'total': number | null
          'types': (string)[] | null
          'until_at': string | null
          'waits_for': string | null
          'worked_at': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'replay_job'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'preview_replay_job': { Args: { 'p_job': Json; 'p_org_id': string }; Returns: Json }
      'preview_retry_config': { Args: { 'p_policy': Json }; Returns: Json }
      'preview_schedule': { Args: { 'p_policy': Json }; Returns: Json }
      'project_name': { Args: { 'p_text': string }; Returns: string }
      'project_to_decide': {
        Args: {
          'p_binding': Omit<
            Database['outbox']['Tables']['binding']['Row'],
            Database['outbox']['Tables']['binding']['ComputedFields']
          >
          'p_decision': string
          'p_project': string
        }
        Returns: string
      }
      'publish': {
        Args: {
          'p_correlation_id'?: string
          'p_deliver_at'?: string
          'p_endpoint_id'?: string
          'p_idempotency_key'?: string
          'p_org_id'?: string
          'p_partition_key'?: string
          'p_payload': Json
          'p_traceparent'?: string
          'p_type': string
        }
        Returns: string
      }
      'publish_array': {
        Args: { 'p_events': Json; 'p_org_id': string }
        Returns: Record<string, unknown>
      }
      'publish_change': {
        Args: {
          'p_change': Database['outbox']['CompositeTypes']['watched_change']
          'p_op': string
          'p_schema': string
          'p_table': string
          'p_watch': Json
        }
        Returns: undefined
      }
      'publish_dead_letters': {
        Args: { 'p_endpoints': (string)[]; 'p_events': (string)[]; 'p_now': string }
        Returns: undefined
      }
      'publish_events': {
        Args: { 'p_catalogue'?: string; 'p_events': Json; 'p_key'?: string; 'p_org_id': string }
        Returns: Json
      }
      'publish_inbound': {
        Args: {
          'p_action': string
          'p_message': Omit<
            Database['outbox']['Tables']['inbound_message']['Row'],
            Database['outbox']['Tables']['inbound_message']['ComputedFields']
          >
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'publish_many': { Args: { 'p_events': Json }; Returns: Json }
      'publish_message': {
        Args: {
          'p_at': string
          'p_lane_key': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'publish_once': { Args: { 'p_event': Json }; Returns: Json }
      'publish_plain': {
        Args: { 'p_events': Json; 'p_now': string; 'p_org_id': string }
        Returns: (string)[]
      }
      'publish_raw': {
        Args: {
          'p_body': string
          'p_correlation_id'?: string
          'p_deliver_at'?: string
          'p_endpoint_id'?: string
          'p_idempotency_key'?: string
          'p_org_id'?: string
          'p_partition_key'?: string
          'p_traceparent'?: string
          'p_type': string
        }
        Returns: string
      }
      'publish_statuses': {
        Args: { 'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[] }
        Returns: undefined
      }
      'published_before': { Args: { 'p_events': Json; 'p_org_id': string }; Returns: Json }
      'purge_apart': {
        Args: {
          'p_endpoint_id': string
          'p_gate_id': number
          'p_now': string
          'p_rows': (unknown)[]
          'p_until': string
        }
        Returns: number
      }
      'purge_deleted': { Args: { 'p_limit': number }; Returns: number }
      'purge_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_limit': number; 'p_now': string; 'p_until'?: string }
        Returns: number
      }
      'purge_rows': {
        Args: {
          'p_endpoint_id': string
          'p_gate_id': number
          'p_now': string
          'p_rows': (unknown)[]
          'p_why': string
        }
        Returns: number
      }
      'put_broker': {
        Args: { 'p_broker': Json; 'p_credentials': Json; 'p_endpoint_id': string }
        Returns: undefined
      }
      'put_carried_event': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
        }
        Returns: string
      }
      'put_credentials': {
        Args: { 'p_credentials': Json; 'p_endpoint_id': string }
        Returns: undefined
      }
      'put_event': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
          'p_is_own'?: boolean
        }
        Returns: string
      }
      'put_event_type': {
        Args: {
          'p_actor'?: string
          'p_create'?: boolean
          'p_description'?: string
          'p_key'?: string
          'p_org_id': string
          'p_schema'?: Json
          'p_type': string
        }
        Returns: Json
      }
      'put_headers': { Args: { 'p_endpoint_id': string; 'p_headers': Json }; Returns: undefined }
      'put_message': {
        Args: {
          'p_lane_key': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: Json
      }
      'put_moved_endpoint': {
        Args: {
          'p_item': Json
          'p_move': Omit<
            Database['outbox']['Tables']['org_move']['Row'],
            Database['outbox']['Tables']['org_move']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'put_news': { Args: { 'p_bodies': (string)[]; 'p_type': string }; Returns: undefined }
      'put_reply_word': {
        Args: {
          'p_action': string
          'p_actor'?: string
          'p_language': string
          'p_org_id': string
          'p_word': string
        }
        Returns: Json
      }
      'put_row': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
          'p_is_ordered': boolean
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_place': number
        }
        Returns: string
      }
      'put_slack_url': { Args: { 'p_endpoint_id': string; 'p_url': string }; Returns: undefined }
      'put_subscriptions': {
        Args: {
          'p_at': string
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
          'p_filter': string
          'p_patterns': (string)[]
        }
        Returns: undefined
      }
      'put_template': {
        Args: {
          'p_actor'?: string
          'p_category': string
          'p_code': string
          'p_language': string
          'p_name': string
          'p_org_id': string
          'p_parameter_format'?: string
        }
        Returns: Json
      }
      'put_whatsapp_app': {
        Args: {
          'p_allow_unsigned'?: boolean
          'p_app_id': string
          'p_overlap'?: string
          'p_secret'?: string
        }
        Returns: Json
      }
      'question_orgs': {
        Args: { 'p_questions': (Database['outbox']['CompositeTypes']['question'])[] }
        Returns: (number)[]
      }
      'queue_backlog': { Args: Record<PropertyKey, never>; Returns: Json }
      'queue_metrics': { Args: { 'p_now': string }; Returns: Json }
      'queue_problems': { Args: { 'p_backlog': Json }; Returns: (string)[] }
      'raise_unknown_person': { Args: Record<PropertyKey, never>; Returns: undefined }
      'raise_unknown_saga': { Args: { 'p_name': string }; Returns: undefined }
      'read_above': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['unread']
        SetofOptions: {
          from: 'outbox.router'
          to: 'unread'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_catalogue': { Args: { 'p_org_id': string; 'p_with_types'?: boolean }; Returns: Json }
      'read_cursor': { Args: { 'p_cursor': string }; Returns: Record<string, unknown> }
      'read_filter': {
        Args: { 'p_filter': string }
        Returns: Database['outbox']['CompositeTypes']['filter']
        SetofOptions: {
          from: '*'
          to: 'filter'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_late': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['unread']
        SetofOptions: {
          from: 'outbox.router'
          to: 'unread'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_move_page': {
        Args: {
          'p_after'?: string
          'p_org_id': string
          'p_part': string
          'p_upto'?: string
          'p_whole'?: boolean
          'p_with_items'?: boolean
        }
        Returns: Json
      }
      'read_moved_catalogue': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_endpoints': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_events': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_keys': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_lanes': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_letters': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_settings': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_moved_types': {
        Args: { 'p_after': string; 'p_limit': number; 'p_org_id': string; 'p_upto': string }
        Returns: {
          'item': Json
          'key': string
        }[]
      }
      'read_new': {
        Args: {
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: 'outbox.router'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_payload': { Args: { 'p_event_id': string }; Returns: Record<string, unknown> }
      'read_problem': { Args: { 'p_vault_id': string; 'p_what': string }; Returns: string }
      'read_results': {
        Args: { 'p_results': Json }
        Returns: Database['outbox']['CompositeTypes']['reported']
        SetofOptions: {
          from: '*'
          to: 'reported'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_secret': { Args: { 'p_endpoint_id': string }; Returns: Json }
      'read_source': {
        Args: {
          'p_keys'?: (string)[]
          'p_limit': number
          'p_lock'?: string
          'p_most_bytes'?: number
          'p_source': Omit<
            Database['outbox']['Tables']['backfill_source']['Row'],
            Database['outbox']['Tables']['backfill_source']['ComputedFields']
          >
          'p_watch': Json
        }
        Returns: (Database['outbox']['CompositeTypes']['source_row'])[]
      }
      'read_turn': {
        Args: {
          'p_batch': Database['outbox']['CompositeTypes']['routing']
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'read_unrouted': {
        Args: Record<PropertyKey, never>
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: '*'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'readable': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_known': Json
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'ready_source': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_now': string
        }
        Returns: {
          'at_key': string | null
          'busy_key': string | null
          'is_bounded': boolean
          'job_id': number
          'key_parts': (string)[]
          'settings': Json | null
          'source': unknown
          'until_key': string | null
        }
        SetofOptions: {
          from: '*'
          to: 'backfill_source'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'receive_callbacks': {
        Args: { 'p_app_id': string; 'p_org_id'?: string; 'p_updates'?: Json }
        Returns: Json
      }
      'receive_endpoint': {
        Args: { 'p_from': string; 'p_item': string; 'p_org_id': string }
        Returns: undefined
      }
      'recent_deliveries': {
        Args: { 'p_limit'?: number; 'p_org_id'?: string }
        Returns: {
          'attempt': number | null
          'created_at': string | null
          'endpoint_id': string | null
          'event_id': string | null
          'event_type': string | null
          'failed_attempts': number | null
          'finished_at': string | null
          'held_because': string | null
          'next_attempt_at': string | null
          'open': boolean | null
          'org_id': string | null
          'status': string | null
        }[]
        SetofOptions: {
          from: '*'
          to: 'delivery_status'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'recipients_json': { Args: { 'p_person_id': number }; Returns: Json }
      'record_arrivals': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'record_broker_replay': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_published'?: boolean }
        Returns: Json
      }
      'record_failure': {
        Args: {
          'p_by_callback': boolean
          'p_details': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
          'p_title': string
        }
        Returns: undefined
      }
      'record_lost_lease': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'record_lost_leases': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_now': string }
        Returns: number
      }
      'record_module': { Args: { 'p_name': string }; Returns: undefined }
      'record_moves': {
        Args: {
          'p_moves': (Database['outbox']['CompositeTypes']['changed_message'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'record_portal_token': {
        Args: { 'p_key'?: string; 'p_org_id': string; 'p_token': Json }
        Returns: Json
      }
      'record_refused': { Args: { 'p_now': string; 'p_results': Json }; Returns: number }
      'record_reported': {
        Args: {
          'p_at': string
          'p_before': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_code': string
          'p_error': string
          'p_message_id': number
          'p_now': string
          'p_status': string
        }
        Returns: undefined
      }
      'record_results': {
        Args: {
          'p_now': string
          'p_reported': Database['outbox']['CompositeTypes']['reported']
          'p_results': (Database['outbox']['CompositeTypes']['result'])[]
        }
        Returns: Database['outbox']['CompositeTypes']['completed']
        SetofOptions: {
          from: '*'
          to: 'completed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'record_statuses': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'record_type_change': {
        Args: {
          'p_actor': string
          'p_after': Omit<
            Database['outbox']['Tables']['event_type']['Row'],
            Database['outbox']['Tables']['event_type']['ComputedFields']
          >
          'p_before': Omit<
            Database['outbox']['Tables']['event_type']['Row'],
            Database['outbox']['Tables']['event_type']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'record_values': {
        Args: { 'p_named': Json; 'p_row': string; 'p_table': unknown }
        Returns: string
      }
      'refusal_delay': { Args: { 'p_endpoint_id': string; 'p_failures': number }; Returns: string }
      'refusal_text': { Args: { 'p_code': string }; Returns: string }
      'refuse_arrival': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'refuse_change': { Args: { 'p_org_id': string }; Returns: undefined }
      'refuse_claim': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_error': string
          'p_now': string
          'p_sqlstate': string
        }
        Returns: undefined
      }
      'refuse_contract': {
        Args: {
          'p_applied': number
          'p_kind': string
          'p_now': string
          'p_run': string
          'p_speaks': Json
        }
        Returns: Json
      }
      'refuse_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_error': string; 'p_now': string; 'p_sqlstate': string }
        Returns: undefined
      }
      'refuse_expiry': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_error': string
          'p_now': string
          'p_sqlstate': string
        }
        Returns: undefined
      }
      'refuse_filter': {
        Args: { 'p_place': number; 'p_problem': string; 'p_remedy': string }
        Returns: undefined
      }
      'refuse_for_today': {
        Args: { 'p_name': string; 'p_now': string; 'p_problem': string }
        Returns: undefined
      }
      'refuse_lane': {
        Args: {
          'p_endpoint_id': string
          'p_error': string
          'p_lane_id': number
          'p_now': string
          'p_sqlstate': string
        }
        Returns: undefined
      }
      'refuse_lanes': { Args: { 'p_endpoint_id': string; 'p_now': string }; Returns: number }
      'refuse_managed': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'refuse_members': {
        Args: { 'p_endpoint': Json; 'p_kind': string; 'p_members': (string)[]; 'p_remedy': string }
        Returns: undefined
      }
      'refuse_moved': { Args: { 'p_org_id': string }; Returns: undefined }
      'refuse_old_snapshot': { Args: Record<PropertyKey, never>; Returns: Json }
      'refuse_project': {
        Args: {
          'p_kind': string
          'p_now': string
          'p_project': string
          'p_reason': string
          'p_run': string
        }
        Returns: string
      }
      'refuse_restoring': { Args: { 'p_table': string }; Returns: undefined }
      'refuse_result': {
        Args: {
          'p_error': string
          'p_now': string
          'p_result': Database['outbox']['CompositeTypes']['result']
          'p_sqlstate': string
        }
        Returns: undefined
      }
      'refuse_rows': {
        Args: { 'p_endpoint_id': string; 'p_isolated': boolean; 'p_most': number; 'p_now': string }
        Returns: number
      }
      'refuse_setting': {
        Args: { 'p_name': string; 'p_now': Json; 'p_problem': string; 'p_remedy': string }
        Returns: undefined
      }
      'refuse_slow': {
        Args: {
          'p_detail': string
          'p_error': string
          'p_shown': string
          'p_sqlstate': string
          'p_task': string
        }
        Returns: boolean
      }
      'refuse_unreadable': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'refuse_upkeep': {
        Args: {
          'p_error': string
          'p_member': string
          'p_shown': string
          'p_sqlstate': string
          'p_task': string
        }
        Returns: number
      }
      'refused_again_at': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_now': string }
        Returns: string
      }
      'refused_until': {
        Args: { 'p_gate_id': number; 'p_lane_id': number; 'p_now': string }
        Returns: string
      }
      'rejoin': { Args: { 'p_endpoint_id': string; 'p_now': string }; Returns: number }
      'rejoin_due': { Args: { 'p_now': string }; Returns: undefined }
      'release_command': { Args: { 'p_endpoint_id': string }; Returns: string }
      'release_first': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: string
      }
      'release_unreadable': { Args: { 'p_endpoint_id': string }; Returns: undefined }
      'reload_jobs': { Args: Record<PropertyKey, never>; Returns: Json }
      'remaining_headers': { Args: { 'p_endpoint_id': string; 'p_headers': Json }; Returns: Json }
      'remove_done_parts': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: undefined
      }
      'remove_empty_lanes': { Args: { 'p_endpoint_ids': (string)[] }; Returns: undefined }
      'remove_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_gate_id': number }
        Returns: undefined
      }
      'remove_moved_deliveries': {
        Args: { 'p_events': (string)[]; 'p_org_id': string }
        Returns: undefined
      }
      'remove_request_keys': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'remove_revoked_tokens': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'remove_type_changes': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'renew_apart': {
        Args: { 'p_now': string; 'p_renewals': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: Json
      }
      'renew_leases': {
        Args: { 'p_now': string; 'p_renewals': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: Json
      }
      'reopen_delivery': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_job': number; 'p_now': string }
        Returns: boolean
      }
      'replay': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: Json }
      'replay_dead_letter': { Args: { 'p_id': string; 'p_org_id': string }; Returns: Json }
      'replay_job_json': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
        }
        Returns: Json
      }
      'replay_lane': {
        Args: { 'p_gate_id': number; 'p_job': number }
        Returns: {
          'changed_at': string
          'depth': number
          'gate_id': number
          'halted': boolean
          'head_at': string
          'id': number
          'isolated': boolean
          'key_hash': number
          'leased': number
          'leased_until': string | null
          'next_at': string
          'not_before': string
          'ordered': boolean
          'tail_at': string
        }
        SetofOptions: {
          from: '*'
          to: 'lane'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'replay_many': {
        Args: {
          'p_endpoint_id'?: string
          'p_event_type'?: string
          'p_failed_from'?: string
          'p_failed_to'?: string
          'p_org_id'?: string
          'p_rate_per_second'?: number
        }
        Returns: Json
      }
      'replay_one': {
        Args: { 'p_now': string; 'p_step': Database['outbox']['CompositeTypes']['replay_step'] }
        Returns: number
      }
      'replied_attempt': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: {
          'arrived_at': string | null
          'attempt_no': number
          'claim': number
          'created_at': string
          'delivered_at': string | null
          'error_code': string | null
          'error_message': string | null
          'event_id': string
          'failed_at': string | null
          'id': number
          'message_id': number
          'next_retry_at': string | null
          'phone_number_id': string
          'provider_response': Json | null
          'read_at': string | null
          'sent_at': string | null
          'status': string
          'taken_at': string | null
          'updated_at': string
          'wamid': string | null
        }
        SetofOptions: {
          from: 'outbox.whatsapp_update'
          to: 'message_attempt'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'reply_action': { Args: { 'p_data': Json; 'p_org_id': string }; Returns: string }
      'report_dead_message': {
        Args: {
          'p_consumer': string
          'p_correlation_id': string
          'p_dlq_topic': string
          'p_error': string
          'p_event_type': string
          'p_message_id': string
          'p_retry_count': number
          'p_topic': string
        }
        Returns: undefined
      }
      'report_status': {
        Args: {
          'p_at'?: string
          'p_channel_id': string
          'p_code'?: string
          'p_error'?: string
          'p_provider_id': string
          'p_status': string
        }
        Returns: string
      }
      'request_content': { Args: { 'p_request': Json }; Returns: string }
      'resend_message': {
        Args: {
          'p_actor'?: string
          'p_force'?: boolean
          'p_message_id': string
          'p_org_id': string
        }
        Returns: Json
      }
      'reserved_headers': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'resolve_dead_letters': {
        Args: {
          'p_attempts': (number)[]
          'p_endpoints': (string)[]
          'p_events': (string)[]
          'p_now': string
        }
        Returns: undefined
      }
      'rest_job': { Args: { 'p_error': string; 'p_job_id': number }; Returns: undefined }
      'rest_lane': {
        Args: { 'p_for': string; 'p_lane_id': number; 'p_now': string }
        Returns: undefined
      }
      'restart_open_checks': { Args: { 'p_event_ids': (string)[] }; Returns: undefined }
      'restore_settings': { Args: { 'p_settings': (string)[] }; Returns: undefined }
      'rests': { Args: { 'p_member': string; 'p_now': string; 'p_task': string }; Returns: boolean }
      'resume_channel': {
        Args: { 'p_actor'?: string; 'p_channel_id': string; 'p_org_id': string }
        Returns: Json
      }
      'resume_endpoint': { Args: { 'p_endpoint_id': string }; Returns: Json }
      'resume_lane': {
        Args: { 'p_endpoint_id': string; 'p_partition_key'?: string }
        Returns: Json
      }
      'resume_org_endpoint': {
        Args: { 'p_endpoint_id': string; 'p_org_id': string }
        Returns: Json
      }
      'retries_at': { Args: { 'p_endpoint_ids': (string)[]; 'p_now': string }; Returns: Json }
      'retry_after': {
        Args: { 'p_header': string; 'p_most_s'?: number; 'p_now': string }
        Returns: string
      }
      'retry_config_json': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: Json
      }
      'retry_if_transient': {
        Args: {
          'p_provider': Json
          'p_rule': Omit<
            Database['outbox']['Tables']['failure_rule']['Row'],
            Database['outbox']['Tables']['failure_rule']['ComputedFields']
          >
        }
        Returns: {
          'action': string
          'code': string
          'firm': boolean
          'kind': string
          'max_retries': number | null
          'min_delay_s': number
          'new_token': boolean
          'note': string
          'of_recipient': boolean
          'opt_out': string | null
          'scope': string
          'title': string
        }
        SetofOptions: {
          from: '*'
          to: 'failure_rule'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'retry_now': { Args: { 'p_endpoint_id': string; 'p_event_id': string }; Returns: Json }
      'retry_of_wire': { Args: { 'p_policy': Json }; Returns: Json }
      'retry_preset': { Args: { 'p_kind': string }; Returns: Json }
      'retry_to_wire': { Args: { 'p_policy': Json }; Returns: Json }
      'revoke_consent': {
        Args: {
          'p_actor'?: string
          'p_channel'?: string
          'p_dossier_id': string
          'p_evidence'?: string
          'p_org_id': string
          'p_purposes': (string)[]
          'p_source': string
        }
        Returns: Json
      }
      'revoke_portal_token': { Args: { 'p_id': string; 'p_org_id': string }; Returns: Json }
      'revoke_portal_tokens': { Args: { 'p_org_id': string }; Returns: Json }
      'rewrite_command': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: string
      }
      'ring_from': { Args: { 'p_now': string }; Returns: string }
      'rotate_org_secret': {
        Args: {
          'p_endpoint_id': string
          'p_key'?: string
          'p_org_id': string
          'p_overlap_seconds'?: number
          'p_secret'?: string
        }
        Returns: Json
      }
      'rotate_secret': {
        Args: { 'p_endpoint_id': string; 'p_overlap'?: string; 'p_secret'?: string }
        Returns: Json
      }
      'route': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_now': string }
        Returns: Json
      }
      'route_again': { Args: { 'p_event_id': string }; Returns: Json }
      'route_all': { Args: { 'p_now': string; 'p_until': string }; Returns: boolean }
      'route_events': {
        Args: {
          'p_now': string
          'p_pairs': (Database['outbox']['CompositeTypes']['pair'])[]
          'p_rows_at': (unknown)[]
        }
        Returns: number
      }
      'route_failed': {
        Args: {
          'p_batch': Database['outbox']['CompositeTypes']['routing']
          'p_error': string
          'p_event': string
          'p_now': string
          'p_sqlstate': string
        }
        Returns: number
      }
      'route_one_by_one': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_now': string }
        Returns: number
      }
      'route_waiting': { Args: { 'p_most': number; 'p_now': string }; Returns: number }
      'route_what_fits': {
        Args: {
          'p_batch': Database['outbox']['CompositeTypes']['routing']
          'p_event': string
          'p_is_passing': boolean
          'p_now': string
        }
        Returns: number
      }
      'routing_status': { Args: { 'p_event_id': string }; Returns: string }
      'row_event': {
        Args: {
          'p_at': string
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_name': (string)[]
          'p_row': Database['outbox']['CompositeTypes']['source_row']
          'p_watch': Json
        }
        Returns: {
          'body': string
          'correlation_id': string | null
          'created_at': string
          'deliver_at': string | null
          'endpoint_id': string | null
          'id': string
          'idempotency_key': string | null
          'org_id': string
          'partition_key': string | null
          'traceparent': string | null
          'type': string
        }
        SetofOptions: {
          from: '*'
          to: 'event'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'row_name': { Args: { 'p_row': unknown; 'p_table': unknown }; Returns: string }
      'row_problem': {
        Args: {
          'p_event': Omit<
            Database['outbox']['Tables']['event']['Row'],
            Database['outbox']['Tables']['event']['ComputedFields']
          >
          'p_filter': Database['outbox']['CompositeTypes']['filter']
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_row': Database['outbox']['CompositeTypes']['source_row']
        }
        Returns: string
      }
      'rows_in_default': {
        Args: { 'p_most': number; 'p_span': unknown; 'p_table': string }
        Returns: number
      }
      'rows_to_lease': {
        Args: { 'p_endpoint_id': string; 'p_isolated': boolean; 'p_most': number; 'p_now': string }
        Returns: (Database['outbox']['Tables']['delivery']['Row'])[]
      }
      'rows_to_purge': {
        Args: { 'p_endpoint_id': string; 'p_gate_id': number; 'p_limit': number; 'p_now': string }
        Returns: (unknown)[]
      }
      'run_settings': { Args: Record<PropertyKey, never>; Returns: Json }
      'run_step': {
        Args: { 'p_context': Json; 'p_function': string; 'p_place': number; 'p_saga': string }
        Returns: Json
      }
      'saga_json': {
        Args: {
          'p_saga': Omit<
            Database['outbox']['Tables']['saga']['Row'],
            Database['outbox']['Tables']['saga']['ComputedFields']
          >
        }
        Returns: Json
      }
      'said_by': {
        Args: { 'p_key': string; 'p_person_id': number; 'p_recipient': string }
        Returns: Record<string, unknown>
      }
      'same_index': { Args: { 'p_definition': string; 'p_part': unknown }; Returns: unknown }
      'save_contact': { Args: { 'p_contact': Json; 'p_person_id': number }; Returns: undefined }
      'save_display_numbers': { Args: { 'p_ids': (number)[] }; Returns: undefined }
      'save_message': {
        Args: {
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'save_opt_out': {
        Args: {
          'p_change': Omit<
            Database['outbox']['Tables']['opt_out']['Row'],
            Database['outbox']['Tables']['opt_out']['ComputedFields']
          >
          'p_is_shared': boolean
        }
        Returns: boolean
      }
      'save_opt_outs': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['opt_out_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'save_person': {
        Args: { 'p_identifiers': (string)[]; 'p_now': string; 'p_org_id': string }
        Returns: number
      }
      'save_statuses': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'save_verdicts': {
        Args: {
          'p_ids': (number)[]
          'p_now': string
          'p_reasons': (string)[]
          'p_statuses': (string)[]
        }
        Returns: undefined
      }
      'schedule_json': { Args: { 'p_policy': Json }; Returns: Json }
      'schedule_retry': {
        Args: { 'p_delay': string; 'p_endpoint_id': string; 'p_event_id': string }
        Returns: Json
      }
      'schema_members': {
        Args: { 'p_schema': Json }
        Returns: {
          'name': string
          'rule': Json
        }[]
      }
      'search_org': {
        Args: {
          'p_correlation_id'?: string
          'p_idempotency_key'?: string
          'p_limit'?: number
          'p_org_id': string
        }
        Returns: Json
      }
      'send_again': {
        Args: {
          'p_event_id': string
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_now': string
          'p_problem': string
        }
        Returns: number
      }
      'send_delays': {
        Args: { 'p_claimed': Database['outbox']['CompositeTypes']['claimed'] }
        Returns: Database['outbox']['CompositeTypes']['claimed_message'][]
        SetofOptions: {
          from: 'outbox.claimed'
          to: 'claimed_message'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'send_endpoint': { Args: { 'p_endpoint_id': string }; Returns: string }
      'send_test_event': { Args: { 'p_endpoint_id': string }; Returns: Json }
      'sent_bytes': { Args: Record<PropertyKey, never>; Returns: number }
      'sent_in_month': { Args: { 'p_now': string }; Returns: number }
      'serve': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_limit': number; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'serve_apart': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_limit': number; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'serve_isolated': {
        Args: { 'p_endpoint_id': string; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'serve_one': {
        Args: {
          'p_endpoint_id': string
          'p_isolated'?: boolean
          'p_limit': number
          'p_now': string
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'server_id': { Args: Record<PropertyKey, never>; Returns: string }
      'serves_first': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing']; 'p_most': number }
        Returns: boolean
      }
      'set_broker': {
        Args: {
          'p_broker'?: Json
          'p_credentials'?: Json
          'p_endpoint_id': string
          'p_headers'?: Json
        }
        Returns: Json
      }
      'set_catalogue': { Args: { 'p_org_id': string; 'p_strict': boolean }; Returns: Json }
      'set_channel_token': {
        Args: {
          'p_access_token': string
          'p_actor'?: string
          'p_channel_id': string
          'p_org_id': string
        }
        Returns: Json
      }
      'set_default_channel': {
        Args: { 'p_actor'?: string; 'p_channel_id': string; 'p_org_id': string }
        Returns: Json
      }
      'set_endpoint_status': {
        Args: { 'p_endpoint_id': string; 'p_reason': string; 'p_status': string }
        Returns: Json
      }
      'set_headers': { Args: { 'p_endpoint_id': string; 'p_headers': Json }; Returns: Json }
      'set_move_status': { Args: { 'p_org_id': string; 'p_status': string }; Returns: undefined }
      'set_org_setting': {
        Args: { 'p_name': string; 'p_org_id': string; 'p_value': Json }
        Returns: Json
      }
      'set_refusing': { Args: { 'p_refuses': boolean }; Returns: undefined }
      'set_replay_job': { Args: { 'p_id': string; 'p_status': string }; Returns: Json }
      'set_retry_config': {
        Args: {
          'p_endpoint_id': string
          'p_org_id': string
          'p_policy'?: Json
          'p_version'?: number
        }
        Returns: Json
      }
      'set_run_kinds': { Args: { 'p_kinds': Json }; Returns: (string)[] }
      'set_setting': { Args: { 'p_name': string; 'p_value': Json }; Returns: Json }
      'set_slack_url': {
        Args: { 'p_endpoint_id': string; 'p_headers'?: Json; 'p_url': string }
        Returns: Json
      }
      'set_text_settings': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'setting_conflict': { Args: { 'p_name': string }; Returns: Record<string, unknown> }
      'setting_int': { Args: { 'p_name': string }; Returns: number }
      'setting_on': { Args: { 'p_name': string }; Returns: boolean }
      'setting_problem': {
        Args: {
          'p_setting': Omit<
            Database['outbox']['Tables']['setting']['Row'],
            Database['outbox']['Tables']['setting']['ComputedFields']
          >
          'p_value': Json
        }
        Returns: string
      }
      'setting_value': { Args: { 'p_name': string }; Returns: Json }
      'settings_problem': { Args: Record<PropertyKey, never>; Returns: string }
      'settle_move': { Args: { 'p_org_id': string }; Returns: Json }
      'shrink_routing': {
        Args: { 'p_error': string; 'p_events': (string)[]; 'p_now': string }
        Returns: undefined
      }
      'signing_secret': {
        Args: { 'p_endpoint_id': string; 'p_now': string; 'p_rejected'?: (string)[] }
        Returns: string
      }
      'signing_secrets': {
        Args: { 'p_endpoint_ids': (string)[]; 'p_now': string; 'p_rejected'?: (string)[] }
        Returns: (string)[]
      }
      'slot_wal': {
        Args: Record<PropertyKey, never>
        Returns: {
          'active': boolean
          'bytes': number
          'slot_name': string
        }[]
      }
      'snapshot_checks': {
        Args: { 'p_now': string }
        Returns: {
          'detail': string
          'problem': string
        }[]
      }
      'sorting_work': { Args: { 'p_body_bytes': number; 'p_event_id': string }; Returns: number }
      'source_query': {
        Args: {
          'p_columns': (string)[]
          'p_limit': number
          'p_only': string
          'p_source': Omit<
            Database['outbox']['Tables']['backfill_source']['Row'],
            Database['outbox']['Tables']['backfill_source']['ComputedFields']
          >
          'p_watch': Json
        }
        Returns: string
      }
      'source_settings': {
        Args: { 'p_columns': Json; 'p_is_watched': boolean; 'p_table': unknown; 'p_type': string }
        Returns: Json
      }
      'source_table': { Args: { 'p_table': unknown }; Returns: string }
      'source_watch': {
        Args: {
          'p_source': Omit<
            Database['outbox']['Tables']['backfill_source']['Row'],
            Database['outbox']['Tables']['backfill_source']['ComputedFields']
          >
        }
        Returns: Json
      }
      'speaker_of': { Args: { 'p_identifiers': (string)[] }; Returns: string }
      'spread_blockers': { Args: { 'p_org_id': string }; Returns: (string)[] }
      'spread_status': { Args: { 'p_org_id': string }; Returns: Json }
      'start_attempt': {
        Args: {
          'p_claim': number
          'p_count': number
          'p_event_id': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
          'p_phone_number_id': string
        }
        Returns: undefined
      }
      'start_attempts': {
        Args: { 'p_claimed': Database['outbox']['CompositeTypes']['claimed']; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'status_may_change': { Args: { 'p_from': string; 'p_to': string }; Returns: boolean }
      'stay_awake': { Args: Record<PropertyKey, never>; Returns: undefined }
      'step_function': { Args: { 'p_function': string }; Returns: unknown }
      'still_due': { Args: { 'p_endpoint_ids': (string)[]; 'p_now': string }; Returns: (string)[] }
      'still_held': { Args: { 'p_endpoint_id': string }; Returns: string }
      'stop_marked': {
        Args: {
          'p_mark': Omit<
            Database['outbox']['Tables']['delivered_mark']['Row'],
            Database['outbox']['Tables']['delivered_mark']['ComputedFields']
          >
        }
        Returns: undefined
      }
      'stop_problem': { Args: { 'p_says': Json; 'p_stop': string }; Returns: string }
      'stop_waiting': { Args: Record<PropertyKey, never>; Returns: undefined }
      'store_callbacks': {
        Args: { 'p_app_id': string; 'p_now': string; 'p_org_id': string; 'p_updates': Json }
        Returns: (number)[]
      }
      'store_in_vault': { Args: { 'p_field': string; 'p_secret': string }; Returns: string }
      'stored': {
        Args: { 'p_claimed': Database['outbox']['CompositeTypes']['claimed']; 'p_now': string }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'stored_credentials': { Args: { 'p_vault_id': string }; Returns: Json }
      'stored_from': { Args: Record<PropertyKey, never>; Returns: string }
      'stored_headers': { Args: { 'p_vault_id': string }; Returns: Json }
      'stored_person_key': { Args: { 'p_recipient': string }; Returns: string }
      'stored_since': { Args: Record<PropertyKey, never>; Returns: string }
      'stuck_requests': { Args: { 'p_gate_id': number }; Returns: number }
      'subscribe': {
        Args: { 'p_endpoint_id': string; 'p_event_types': (string)[]; 'p_filter'?: string }
        Returns: Json
      }
      'subscription_time': { Args: { 'p_endpoint_id': string }; Returns: string }
      'suspect_endpoints': {
        Args: {
          'p_endpoint_ids': (string)[]
          'p_error': string
          'p_now': string
          'p_sqlstate': string
        }
        Returns: undefined
      }
      'sweep_events': { Args: { 'p_limit': number; 'p_now': string }; Returns: number }
      'sweep_piece': {
        Args: { 'p_after': string; 'p_limit': number; 'p_now': string; 'p_part': unknown }
        Returns: (string)[]
      }
      'take_endpoint_turn': { Args: { 'p_org_id': string }; Returns: undefined }
      'take_event': { Args: { 'p_at': string; 'p_event': Json }; Returns: undefined }
      'take_events': { Args: { 'p_consumer': string; 'p_events': Json }; Returns: Json }
      'take_from_default': { Args: { 'p_span': unknown; 'p_table': string }; Returns: undefined }
      'take_limit_turn': { Args: { 'p_name': string; 'p_org_id': string }; Returns: undefined }
      'take_move': { Args: { 'p_org_id': string; 'p_run': string }; Returns: undefined }
      'take_new_events': {
        Args: { 'p_events': Json; 'p_new': (string)[]; 'p_now': string }
        Returns: Json
      }
      'take_others': {
        Args: {
          'p_gates': (Database['outbox']['CompositeTypes']['due_gate'])[]
          'p_limit': number
          'p_now': string
          'p_of_org': number
          'p_taken': Json
        }
        Returns: (string)[]
      }
      'take_requests': { Args: { 'p_count': number; 'p_org_id': string }; Returns: Json }
      'take_waiting_updates': {
        Args: { 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: (number)[]
      }
      'template_json': { Args: { 'p_code': string; 'p_org_id': string }; Returns: Json }
      'templates_of': {
        Args: { 'p_app_id': string; 'p_language': string; 'p_name': string; 'p_waba_id': string }
        Returns: {
          'category': string
          'code': string
          'created_at': string
          'language': string
          'name': string
          'org_id': string
          'parameter_format': string
          'updated_at': string
        }[]
        SetofOptions: {
          from: '*'
          to: 'template'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'test_attempts': { Args: { 'p_event_id': string }; Returns: Json }
      'test_org_endpoint': { Args: { 'p_endpoint_id': string; 'p_org_id': string }; Returns: Json }
      'text_of': { Args: { 'p_value': unknown }; Returns: string }
      'text_value': {
        Args: { 'p_column': string; 'p_row': string; 'p_table': unknown }
        Returns: string
      }
      'throttle_after_failures': {
        Args: {
          'p_failures': (Database['outbox']['CompositeTypes']['status_change'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'throttle_apps': {
        Args: { 'p_now': string; 'p_results': (Database['outbox']['CompositeTypes']['result'])[] }
        Returns: undefined
      }
      'tick': { Args: { 'p_until'?: string }; Returns: Json }
      'tick_problem': { Args: Record<PropertyKey, never>; Returns: string }
      'time_span': { Args: { 'p_from': string; 'p_to': string }; Returns: (string)[] }
      'to_cursor': { Args: { 'p_at': string; 'p_id': string }; Returns: string }
      'token_actor': { Args: Record<PropertyKey, never>; Returns: string }
      'tokens_at': {
        Args: {
          'p_burst': number
          'p_now': string
          'p_rate_per_second': number
          'p_tokens': number
          'p_tokens_at': string
        }
        Returns: number
      }
      'touch_people': {
        Args: {
          'p_linked': (Database['outbox']['CompositeTypes']['linked_identifier'])[]
          'p_now': string
        }
        Returns: undefined
      }
      'touch_run': {
        Args: {
          'p_ended': boolean
          'p_kind': string
          'p_kinds'?: (string)[]
          'p_now': string
          'p_run': string
          'p_says'?: Json
        }
        Returns: string
      }
      'touched_events': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: (string)[]
      }
      'traffic_month': { Args: { 'p_now': string }; Returns: string }
      'transaction_id_age': { Args: Record<PropertyKey, never>; Returns: number }
      'try_apply': { Args: { 'p_ids': (number)[]; 'p_now': string }; Returns: boolean }
      'try_backfill': { Args: { 'p_until'?: string }; Returns: boolean }
      'try_filter': {
        Args: {
          'p_event_types'?: (string)[]
          'p_filter': string
          'p_limit'?: number
          'p_org_id': string
        }
        Returns: Json
      }
      'try_lane': { Args: { 'p_lane_id': number; 'p_now': string }; Returns: undefined }
      'try_lease': {
        Args: {
          'p_delivery': Omit<
            Database['outbox']['Tables']['delivery']['Row'],
            Database['outbox']['Tables']['delivery']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'try_lock_gates': { Args: { 'p_endpoint_ids': (string)[] }; Returns: (string)[] }
      'try_read': { Args: { 'p_vault_id': string }; Returns: string }
      'try_tick': { Args: { 'p_until'?: string }; Returns: undefined }
      'turn_ring': { Args: { 'p_from': string }; Returns: undefined }
      'type_difference': {
        Args: {
          'p_after': Omit<
            Database['outbox']['Tables']['event_type']['Row'],
            Database['outbox']['Tables']['event_type']['ComputedFields']
          >
          'p_before': Omit<
            Database['outbox']['Tables']['event_type']['Row'],
            Database['outbox']['Tables']['event_type']['ComputedFields']
          >
        }
        Returns: Json
      }
      'type_patterns': { Args: { 'p_type': string }; Returns: (string)[] }
      'undo_attempt': {
        Args: {
          'p_attempt': Omit<
            Database['outbox']['Tables']['message_attempt']['Row'],
            Database['outbox']['Tables']['message_attempt']['ComputedFields']
          >
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'undo_leaving': { Args: { 'p_org_id': string }; Returns: undefined }
      'undo_receiving': { Args: { 'p_limit'?: number; 'p_org_id': string }; Returns: boolean }
      'unknown_events': { Args: { 'p_org_id': string; 'p_pairs': Json }; Returns: Json }
      'unpublish_moved': {
        Args: {
          'p_changes': (Database['outbox']['CompositeTypes']['watched_change'])[]
          'p_schema': string
          'p_table': string
          'p_watch': Json
        }
        Returns: (number)[]
      }
      'unreadable_kick_secret': { Args: Record<PropertyKey, never>; Returns: string }
      'unreadable_result': {
        Args: {
          'p_error': string
          'p_reported': Database['outbox']['CompositeTypes']['reported']
          'p_result': Json
          'p_sqlstate': string
        }
        Returns: Database['outbox']['CompositeTypes']['reported']
        SetofOptions: {
          from: '*'
          to: 'reported'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'unrestored_table': { Args: Record<PropertyKey, never>; Returns: string }
      'unrouted_late': {
        Args: {
          'p_limit': number
          'p_router': Omit<
            Database['outbox']['Tables']['router']['Row'],
            Database['outbox']['Tables']['router']['ComputedFields']
          >
        }
        Returns: string[]
      }
      'unsent_kinds': { Args: Record<PropertyKey, never>; Returns: (string)[] }
      'unwatch_table': { Args: { 'p_table': unknown }; Returns: Json }
      'update_channel': {
        Args: { 'p_actor'?: string; 'p_change': Json; 'p_channel_id': string; 'p_org_id': string }
        Returns: Json
      }
      'update_identifiers': {
        Args: {
          'p_update': Omit<
            Database['outbox']['Tables']['whatsapp_update']['Row'],
            Database['outbox']['Tables']['whatsapp_update']['ComputedFields']
          >
        }
        Returns: (string)[]
      }
      'update_org_endpoint': {
        Args: {
          'p_by_token'?: boolean
          'p_change': Json
          'p_endpoint_id': string
          'p_org_id': string
          'p_version'?: number
        }
        Returns: Json
      }
      'upkeep': { Args: { 'p_now': string; 'p_until': string }; Returns: undefined }
      'upkeep_problem': { Args: { 'p_now': string }; Returns: string }
      'url_origin': { Args: { 'p_url': string }; Returns: string }
      'user_identifier': { Args: { 'p_user_id': string }; Returns: string }
      'uuid_v7': { Args: { 'p_at': string }; Returns: string }
      'uuid_v7_floor': { Args: { 'p_at': string }; Returns: string }
      'uuid_v7_time': { Args: { 'p_id': string }; Returns: string }
      'vault_text': { Args: { 'p_vault_id': string; 'p_what': string }; Returns: string }
      'version': { Args: Record<PropertyKey, never>; Returns: Json }
      'wa_id_to_e164': { Args: { 'p_wa_id': string }; Returns: string }
      'wait_for': { Args: { 'p_job_id': number; 'p_what': string }; Returns: undefined }
      'wait_for_person': {
        Args: {
          'p_endpoint_id': string
          'p_lane_id': number
          'p_lane_keys': (string)[]
          'p_now': string
        }
        Returns: string
      }
      'wait_for_row': {
        Args: {
          'p_source': Omit<
            Database['outbox']['Tables']['backfill_source']['Row'],
            Database['outbox']['Tables']['backfill_source']['ComputedFields']
          >
          'p_watch': Json
        }
        Returns: undefined
      }
      'wait_for_turns': {
        Args: { 'p_parts': (Database['outbox']['CompositeTypes']['part'])[] }
        Returns: undefined
      }
      'waiting_events': { Args: { 'p_limit': number }; Returns: string[] }
      'waiting_events_aside': {
        Args: { 'p_each': number; 'p_most': number; 'p_now': string }
        Returns: {
          'again_at': string
          'error': string
          'event_id': string
          'failures': number
          'org_id': string
          'routed_to': string | null
          'set_aside_at': string
        }[]
        SetofOptions: {
          from: '*'
          to: 'unroutable'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'waiting_letters': { Args: { 'p_endpoint_id': string; 'p_most': number }; Returns: string[] }
      'waiting_orgs': { Args: { 'p_after': string; 'p_limit': number }; Returns: (string)[] }
      'waiting_refusals': {
        Args: { 'p_each': number; 'p_most': number; 'p_now': string }
        Returns: {
          'again_at': string
          'at': string
          'endpoint_id': string
          'error': string
          'event_id': string
          'failures': number
          'sqlstate': string
          'step': string
        }[]
        SetofOptions: {
          from: '*'
          to: 'refusal'
          isOneToOne: false
          isSetofReturn: true
        }
      }
      'wake': {
        Args: { 'p_gates': (number)[]; 'p_next_at': (string)[]; 'p_now': string }
        Returns: undefined
      }
      'wake_changed': { Args: { 'p_now': string }; Returns: undefined }
      'wake_missed': { Args: { 'p_now': string }; Returns: undefined }
      'wake_refused': { Args: { 'p_now': string }; Returns: undefined }
      'wal_bytes': { Args: Record<PropertyKey, never>; Returns: number }
      'wal_position': { Args: Record<PropertyKey, never>; Returns: unknown }
      'wanted_keys': {
        Args: {
          'p_filter': Database['outbox']['CompositeTypes']['filter']
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
          'p_name': (string)[]
          'p_rows': (Database['outbox']['CompositeTypes']['source_row'])[]
          'p_watch': Json
        }
        Returns: (string)[]
      }
      'warn_of_watch': { Args: { 'p_table': unknown }; Returns: undefined }
      'was_delivered': {
        Args: { 'p_endpoint_id': string; 'p_event_id': string; 'p_until': string }
        Returns: boolean
      }
      'was_rotated': { Args: { 'p_endpoint_id': string }; Returns: boolean }
      'watch_of': { Args: { 'p_arguments': string }; Returns: Json }
      'watch_query': {
        Args: {
          'p_named': Json
          'p_only'?: string
          'p_op': string
          'p_rows': string
          'p_table': unknown
        }
        Returns: string
      }
      'watch_table': {
        Args: {
          'p_changed'?: (string)[]
          'p_columns'?: (string)[]
          'p_except'?: (string)[]
          'p_operations'?: (string)[]
          'p_org_column'?: string
          'p_org_id'?: string
          'p_partition_column'?: string
          'p_per_statement'?: boolean
          'p_table': unknown
          'p_type'?: string
        }
        Returns: Json
      }
      'watched_name': { Args: { 'p_table': unknown; 'p_trigger': unknown }; Returns: (string)[] }
      'watched_type': { Args: { 'p_table': unknown; 'p_type': string }; Returns: string }
      'why_endpoint_rests': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: string
      }
      'why_endpoint_stays': {
        Args: {
          'p_endpoint': Omit<
            Database['outbox']['Tables']['endpoint']['Row'],
            Database['outbox']['Tables']['endpoint']['ComputedFields']
          >
        }
        Returns: string
      }
      'why_not_account': {
        Args: { 'p_app_id': string; 'p_kind': string; 'p_org_id': string; 'p_waba_id': string }
        Returns: string
      }
      'why_not_send': {
        Args: {
          'p_endpoint_id': string
          'p_event_id': string
          'p_message': Omit<
            Database['outbox']['Tables']['outbound_message']['Row'],
            Database['outbox']['Tables']['outbound_message']['ComputedFields']
          >
          'p_now': string
          'p_refusal': string
        }
        Returns: string
      }
      'why_unreadable': { Args: { 'p_endpoint_id': string }; Returns: string }
      'with_messages': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_parcel': Database['outbox']['CompositeTypes']['parcel']
        }
        Returns: Database['outbox']['CompositeTypes']['parcel']
        SetofOptions: {
          from: '*'
          to: 'parcel'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'with_secrets': {
        Args: { 'p_deliveries': Json; 'p_endpoint_ids': (string)[]; 'p_now': string }
        Returns: Json
      }
      'without': {
        Args: {
          'p_claimed': Database['outbox']['CompositeTypes']['claimed']
          'p_endpoint_ids': (string)[]
        }
        Returns: Database['outbox']['CompositeTypes']['claimed']
        SetofOptions: {
          from: '*'
          to: 'claimed'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'without_waiting': {
        Args: { 'p_batch': Database['outbox']['CompositeTypes']['routing'] }
        Returns: Database['outbox']['CompositeTypes']['routing']
        SetofOptions: {
          from: 'outbox.routing'
          to: 'routing'
          isOneToOne: true
          isSetofReturn: false
        }
      }
      'work_backfill': {
        Args: {
          'p_job': Omit<
            Database['outbox']['Tables']['replay_job']['Row'],
            Database['outbox']['Tables']['replay_job']['ComputedFields']
          >
          'p_most': number
          'p_now': string
        }
        Returns: (string)[]
      }
      'work_backfills': { Args: { 'p_now': string }; Returns: boolean }
      'work_delivered_mark': {
        Args: {
          'p_mark': Omit<
            Database['outbox']['Tables']['delivered_mark']['Row'],
            Database['outbox']['Tables']['delivered_mark']['ComputedFields']
          >
          'p_now': string
        }
        Returns: undefined
      }
      'work_delivered_marks': { Args: { 'p_now': string }; Returns: boolean }
      'work_replay_job': {
        Args: {
          'p_locked': (string)[]
          'p_now': string
          'p_steps': (Database['outbox']['CompositeTypes']['replay_step'])[]
        }
        Returns: number
      }
      'work_replay_jobs': { Args: { 'p_now': string }; Returns: number }
      'worker_facts': { Args: { 'p_says': Json }; Returns: Json }
      'write_move_page': {
        Args: {
          'p_after': string
          'p_items': string
          'p_org_id': string
          'p_part': string
          'p_upto': string
        }
        Returns: Json
      }
      'write_moved_catalogue': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_endpoints': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_events': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_keys': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_lanes': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_letters': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_settings': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
      'write_moved_types': {
        Args: { 'p_after': string; 'p_items': Json; 'p_org_id': string; 'p_upto': string }
        Returns: undefined
      }
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      'changed_message': {
        'message_id': number | null
        'was': string | null
        'became': string | null
        'attempt_id': number | null
      }
      'claimed': {
        'events': (string)[] | null
        'endpoints': (string)[] | null
        'attempts': (number)[] | null
        'failed_attempts': (number)[] | null
        'lanes': (number)[] | null
        'ordered': (boolean)[] | null
        'replayed': (boolean)[] | null
        'leases_ms': (number)[] | null
      }
      'claimed_message': {
        'event_id': string | null
        'attempt': number | null
        'wait_ms': number | null
      }
      'completed': {
        'applied': number | null
        'refused': number | null
        'error': string | null
      }
      'delivery_key': {
        'event_id': string | null
        'endpoint_id': string | null
        'event_type': string | null
      }
      'due_gate': {
        'id': number | null
        'changed_at': string | null
        'org_id': string | null
      }
      'filter': {
        'path': unknown
        'weight': number | null
      }
      'filter_part': {
        'opening': string | null
        'closing': string | null
        'next': number | null
        'weight': number | null
        'is_many': boolean | null
      }
      'filter_state': {
        'written': string | null
        'at': number | null
        'wants_operand': boolean | null
        'weight': number | null
        'root': string | null
        'is_many': boolean | null
        'negations': number | null
        'pending': string | null
        'closings': (string)[] | null
        'kinds': (string)[] | null
      }
      'filter_tokens': {
        'texts': (string)[] | null
        'places': (number)[] | null
        'ends_at': number | null
      }
      'handed': {
        'claimed': Database['outbox']['CompositeTypes']['claimed'] | null
        'parcel': Database['outbox']['CompositeTypes']['parcel'] | null
      }
      'kept_event': {
        'id': string | null
        'partition_key': string | null
        'deliver_at': string | null
        'body_bytes': number | null
        'is_wanted': boolean | null
        'is_open': boolean | null
        'filters': (unknown)[] | null
        'weights': (number)[] | null
      }
      'lane_gain': {
        'lane_at': unknown
        'gate_at': unknown
        'n': number | null
        'first_at': string | null
        'last_at': string | null
      }
      'linked_identifier': {
        'place': number | null
        'org_id': string | null
        'value': string | null
        'hash': string | null
      }
      'moved_delivery': {
        'event_id': string | null
        'endpoint_id': string | null
        'gate_id': number | null
        'ordered': boolean | null
        'key_hash': number | null
        'body_bytes': number | null
        'due_at': string | null
        'attempt': number | null
        'failed_attempts': number | null
        'replayed_at': string | null
        'deliver_at': string | null
        'secret_id': string | null
        'rejected_secrets': (string)[] | null
        'lost_before': number | null
        'lost_leases': number | null
      }
      'news': {
        'applied': number | null
        'dead_events': (string)[] | null
        'dead_endpoints': (string)[] | null
        'opened': (string)[] | null
        'closed': (string)[] | null
        'gone': (string)[] | null
        'held': (string)[] | null
        'failing': (string)[] | null
      }
      'opt_out_change': {
        'org_id': string | null
        'recipient': string | null
        'purpose': string | null
        'lifted': boolean | null
        'at': string | null
        'source': string | null
        'wamid': string | null
        'words': string | null
        'entity_type': string | null
        'entity_id': string | null
      }
      'pace': {
        'rate_per_second': number | null
        'rate_burst': number | null
        'max_in_flight': number | null
      }
      'pair': {
        'event_id': string | null
        'endpoint_id': string | null
        'problem': string | null
        'deliver_at': string | null
        'key_hash': number | null
        'body_bytes': number | null
        'is_deleted': boolean | null
      }
      'pair_lane': {
        'endpoint_id': string | null
        'key_hash': number | null
        'gate_id': number | null
        'gate_at': unknown
        'lane_id': number | null
        'lane_at': unknown
        'ordered': boolean | null
        'due_from': string | null
      }
      'pairs_apart': {
        'added': number | null
        'refused': (Database['outbox']['CompositeTypes']['pair'])[] | null
        'sqlstates': (string)[] | null
        'errors': (string)[] | null
      }
      'parcel': {
        'deliveries': Json | null
        'events': Json | null
        'endpoints': Json | null
      }
      'part': {
        'org_id': string | null
        'period': string | null
      }
      'person_link': {
        'org_id': string | null
        'identifiers': (string)[] | null
      }
      'question': {
        'event_id': string | null
        'endpoint_id': string | null
        'body_bytes': number | null
        'filters': (unknown)[] | null
        'weights': (number)[] | null
        'org_id': string | null
      }
      'replay_step': {
        'job_id': number | null
        'event_id': string | null
        'endpoint_id': string | null
        'failed_at': string | null
        'letter_id': string | null
      }
      'reported': {
        'results': (Database['outbox']['CompositeTypes']['result'])[] | null
        'bad': (Database['outbox']['CompositeTypes']['result'])[] | null
        'sqlstates': (string)[] | null
        'errors': (string)[] | null
      }
      'result': {
        'event': string | null
        'endpoint': string | null
        'attempt': number | null
        'outcome': string | null
        'status': number | null
        'error_class': string | null
        'error': string | null
        'code': string | null
        'retry_after': string | null
        'duration_ms': number | null
        'response': string | null
        'lossy': boolean | null
        'provider_id': string | null
        'provider': Json | null
        'cut': boolean | null
        'resent': boolean | null
        'endpoint_version': number | null
      }
      'routing': {
        'events': (string)[] | null
        'rows_at': (unknown)[] | null
        'behind': (string)[] | null
        'orgs': (string)[] | null
        'pairs': (Database['outbox']['CompositeTypes']['pair'])[] | null
        'cut_event': string | null
        'cut_endpoint': string | null
        'watermark': string | null
        'seen_below': unknown
        'open_xids': (unknown)[] | null
        'questions': (Database['outbox']['CompositeTypes']['question'])[] | null
        'is_shared': boolean | null
        'turn_of': string | null
        'turn_orgs': (string)[] | null
      }
      'sending_check': {
        'refusal': string | null
        'lane_keys': (string)[] | null
      }
      'source_row': {
        'key': string | null
        'record': Json | null
        'org_id': string | null
        'partition_key': string | null
      }
      'status_change': {
        'update_id': number | null
        'attempt_id': number | null
        'message_id': number | null
        'status': string | null
        'rank': number | null
        'at': string | null
        'wamid': string | null
        'code': string | null
        'title': string | null
        'details': string | null
        'is_new': boolean | null
        'was': string | null
        'arrives': boolean | null
        'is_copy': boolean | null
        'update_status': string | null
        'reason': string | null
      }
      'unread': {
        'events': (string)[] | null
        'rows_at': (unknown)[] | null
        'behind': (string)[] | null
        'orgs': (string)[] | null
        'parts': (Database['outbox']['CompositeTypes']['part'])[] | null
        'upto': string | null
        'is_part': boolean | null
      }
      'watched_change': {
        'record': Json | null
        'old_record': Json | null
        'org_id': string | null
        'partition_key': string | null
        'changed': boolean | null
      }
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, '__InternalSupabase'>

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, 'outbox'>]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  } ? keyof (
      & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
      & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views']
    )
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals } ? (
    & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views']
  )[TableName] extends {
    Row: infer R
  } ? R
  : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    ? (DefaultSchema['Tables'] & DefaultSchema['Views'])[DefaultSchemaTableNameOrOptions] extends {
      Row: infer R
    } ? R
    : never
  : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  } ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends
    {
      Insert: infer I
    } ? I
  : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
      Insert: infer I
    } ? I
    : never
  : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  } ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends
    {
      Update: infer U
    } ? U
  : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
      Update: infer U
    } ? U
    : never
  : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema['Enums']
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  } ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums']
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums'][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema['Enums']
    ? DefaultSchema['Enums'][DefaultSchemaEnumNameOrOptions]
  : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema['CompositeTypes']
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  } ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes']
    : never = never,
> = PublicCompositeTypeNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes'][
    CompositeTypeName
  ]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema['CompositeTypes']
    ? DefaultSchema['CompositeTypes'][PublicCompositeTypeNameOrOptions]
  : never

export const Constants = {
  'outbox': {
    Enums: {},
  },
} as const
