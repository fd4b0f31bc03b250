/**
 * The SQL of one call: settings, then the call, as ONE simple-protocol message. Postgres runs it as one
 * implicit transaction (an error rolls back all of it) with a statement timeout for each statement, so a
 * call costs one round trip and never leaves an open transaction.
 */
import type { Routine, RoutineName } from './catalog.ts'
import type { Payload } from './payload.ts'
import type { Binding } from './routine.ts'

export interface Call {
  name: RoutineName
  binding: Binding
  payload: Payload
  /** Transaction-local settings, in order, with `role`. */
  settings: Map<string, string>
  /** One object instead of an array of one; the caller checks that there is one. */
  single: boolean
  /** `Prefer: count=exact`. */
  exactCount: boolean
  rollback: boolean
  maxRows: number
}

const ISOLATION_LEVELS = new Set(['serializable', 'repeatable read', 'read committed'])

/** The statements of a call. The result of the last `select` is the call's. */
export function writeCall(call: Call): string[] {
  const statements = [writeSettings(call.settings), writeSelect(call)]
  const isolation = call.settings.get('default_transaction_isolation')
  if (isolation !== undefined && ISOLATION_LEVELS.has(isolation)) {
    statements.unshift(`set transaction isolation level ${isolation}`)
  }
  if (call.rollback) statements.push('rollback')
  return statements
}

function writeSettings(settings: Map<string, string>): string {
  const calls = [...settings].map(([name, value]) => {
    return `pg_catalog.set_config(${literal(name)}, ${literal(value)}, true)`
  })
  return `select ${calls.join(', ')}`
}

/** One row: body, number of its rows, total number of rows, response.status, response.headers. */
function writeSelect(call: Call): string {
  const { routine } = call.binding
  const source = writeSource(call)
  const overrides = `nullif(pg_catalog.current_setting('response.status', true), ''), ` +
    `nullif(pg_catalog.current_setting('response.headers', true), '')`
  if (!routine.set) {
    const rows = routine.composite ? `(select _result.* ${source}) as _row` : source.slice(5)
    return `select ${writeSingle(routine)}, 1, 1, ${overrides} from ${rows}`
  }
  const rows = routine.composite
    ? `select _result.* ${source}`
    : `select _result._result as value ${source}`
  const value = routine.composite ? '_row.*' : '_row.value'
  const values = `pg_catalog.json_agg(${value})`
  const json = call.single ? `${values}->0` : `coalesce(${values}, '[]')`
  const body = `(${json})::text, pg_catalog.count(*)`
  if (!call.exactCount) {
    return `select ${body}, null, ${overrides} from (${rows} limit ${call.maxRows}) as _row`
  }
  return `with _all as materialized (${rows}) ` +
    `select ${body}, (select pg_catalog.count(*) from _all), ${overrides} ` +
    `from (select * from _all limit ${call.maxRows}) as _row`
}

function writeSingle(routine: Routine): string {
  if (routine.void) return 'null'
  if (routine.composite) return 'pg_catalog.row_to_json(_row.*)::text'
  const value = routine.json ? '_result._result::text' : 'pg_catalog.to_json(_result._result)::text'
  return `coalesce(${value}, 'null')`
}

/** The `from` clause: the arguments in their declared types, and the function. */
function writeSource({ name: { schema, name }, binding, payload }: Call): string {
  const { parameters } = binding.routine
  const called = `${identifier(schema)}.${identifier(name)}`
  if (binding.whole) {
    const text = payload.kind === 'fields' ? '' : payload.text
    return `from ${called}(${literal(text)}::${parameters[0]?.type ?? 'json'}) as _result`
  }
  const given = parameters.filter((each) => payload.keys.includes(each.name))
  const valueOf = (parameter: Routine['parameters'][number]): string =>
    payload.kind === 'fields'
      ? writeField(payload.fields.get(parameter.name) ?? [], parameter)
      : `_given.${identifier(parameter.name)}`
  const bindings = given.map((each) => {
    return `${each.variadic ? 'variadic ' : ''}${identifier(each.name)} := ${valueOf(each)}`
  })
  const invoked = `${called}(${bindings.join(', ')}) as _result`
  if (payload.kind !== 'json' || given.length === 0) return `from ${invoked}`
  const columns = given.map((each) => `${identifier(each.name)} ${each.type}`).join(', ')
  const json = `${literal(payload.text)}::json`
  const record = payload.array
    ? `(select * from pg_catalog.json_to_recordset(${json}) as _rows(${columns}) limit 1) as _given`
    : `pg_catalog.json_to_record(${json}) as _given(${columns})`
  return `from ${record}, lateral ${invoked}`
}

/** A query or form value as text of the parameter's type; a repeated one is for a variadic parameter. */
function writeField(
  values: string[],
  { type, variadic }: Routine['parameters'][number],
): string {
  return variadic
    ? `array[${values.map(literal).join(', ')}]::text[]::${type}`
    : `${literal(values.at(-1) ?? '')}::text::${type}`
}

/** Quoted for `standard_conforming_strings = on`, which the connection sets. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
