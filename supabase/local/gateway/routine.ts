/**
 * Which function a call means. PostgREST answers this from its schema cache; here it is one
 * catalog query per call, so that a function made a moment ago is found and a dropped one is not.
 */
import type postgres from 'postgres'
import { z } from 'zod'
import { RestFailure } from './failure.ts'
import type { Payload } from './payload.ts'

const parameter = z.object({
  name: z.string(),
  /** As `format_type` writes it, with its schema. */
  type: z.string(),
  required: z.boolean(),
  variadic: z.boolean(),
})

const routine = z.object({
  volatile: z.boolean(),
  set: z.boolean(),
  /** Answers with objects: a row type, or OUT, INOUT or TABLE columns. */
  composite: z.boolean(),
  void: z.boolean(),
  /** Returns `json` or `jsonb`: handed on as the text it is. */
  json: z.boolean(),
  settings: z.array(z.string()),
  parameters: z.array(parameter),
})

const catalogEntry = z.object({
  routines: z.array(routine),
  roleSettings: z.array(z.string()),
  /** `pgrst.db_tx_end` of the API role: whether callers may ask for a rollback. */
  txEnd: z.string().nullable(),
})

/** One function of an exposed schema, as far as a call needs to know it. */
export type Routine = z.infer<typeof routine>

/** What the catalog says about a function name and about the caller's role. */
export type CatalogEntry = z.infer<typeof catalogEntry>

/** The name as the caller gave it. */
export interface RoutineName {
  schema: string
  name: string
}

const CATALOG_QUERY = `
select pg_catalog.json_build_object(
  'routines', coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'volatile', p.provolatile = 'v',
      'set', p.proretset,
      'composite', coalesce(p.proargmodes && '{o,b,t}', false) or t.typtype = 'c'
        or (t.typtype = 'd' and b.typtype = 'c'),
      'void', p.prorettype = 'pg_catalog.void'::pg_catalog.regtype,
      'json', p.prorettype in (
        'pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.jsonb'::pg_catalog.regtype
      ),
      'settings', coalesce(p.proconfig, '{}'),
      'parameters', coalesce((
        select pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', coalesce(i.name, ''),
          'type', pg_catalog.format_type(i.type, null),
          'required', i.position <= p.pronargs - p.pronargdefaults,
          'variadic', i.mode = 'v'
        ) order by i.position)
        from (
          select a.name, a.type, coalesce(a.mode, 'i') as mode,
            pg_catalog.row_number() over (order by a.ord) as position
          from rows from (
            pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[])),
            pg_catalog.unnest(p.proargnames),
            pg_catalog.unnest(p.proargmodes)
          ) with ordinality as a (type, name, mode, ord)
          where a.type is not null and coalesce(a.mode, 'i') in ('i', 'b', 'v')
        ) as i
      ), '[]')
    ) order by p.oid)
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    join pg_catalog.pg_type as t on t.oid = p.prorettype
    left join pg_catalog.pg_type as b on b.oid = t.typbasetype
    where n.nspname = $1 and p.proname = $2 and p.prokind = 'f'
      and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
  ), '[]'),
  'roleSettings', coalesce((
    select pg_catalog.to_json(r.rolconfig) from pg_catalog.pg_roles as r where r.rolname = $3
  ), '[]'),
  'txEnd', (
    select pg_catalog.substr(c.setting, 18)
    from pg_catalog.pg_roles as r, pg_catalog.unnest(r.rolconfig) as c (setting)
    where r.rolname = current_user and c.setting like 'pgrst.db\\_tx\\_end=%'
  )
)::text as entry`

/** Reads what the catalog knows about a function name and a role, in one round trip. */
export async function readCatalog(
  sql: postgres.Sql,
  { schema, name }: RoutineName,
  role: string,
): Promise<CatalogEntry> {
  const rows = await sql.unsafe(CATALOG_QUERY, [schema, name, role], { prepare: true })
  // The last row, not the first: after an error amid rows postgres.js (3.4.9) goes on counting in
  // the connection's next result, whose only row then stands behind holes.
  return catalogEntry.parse(JSON.parse(rows.at(-1)?.entry))
}

/** How a call hands its values over: by name, or the whole body as the one unnamed parameter. */
export interface Binding {
  routine: Routine
  whole: boolean
}

/** Chooses the function whose parameters fit the payload; its names decide, never its types. */
export function chooseRoutine(
  routines: Routine[],
  routineName: RoutineName,
  payload: Payload,
): Binding | RestFailure {
  const callable = routines.filter(isCallable)
  const byName = callable.filter((candidate) => fitsNames(candidate, payload))
  const fitting = byName.length > 0 ? byName : callable.filter((candidate) => {
    return fitsWhole(candidate, payload)
  })
  const [first, second] = fitting
  if (first === undefined) return notFound(routineName, payload)
  if (second !== undefined) return ambiguous(routineName, fitting)
  return { routine: first, whole: byName.length === 0 }
}

/** Without names there is no binding by name: only a single unnamed parameter can be served. */
function isCallable({ parameters }: Routine): boolean {
  return parameters.length === 1 || parameters.every(({ name }) => name !== '')
}

function fitsNames({ parameters }: Routine, { kind, keys }: Payload): boolean {
  if (kind === 'raw') return false
  if (parameters.some(({ name }) => name === '')) return false
  const known = new Set(parameters.map(({ name }) => name))
  return keys.every((key) => known.has(key)) &&
    parameters.every(({ name, required }) => !required || keys.includes(name))
}

function fitsWhole({ parameters: [only, ...others] }: Routine, payload: Payload): boolean {
  return only !== undefined && others.length === 0 && only.name === '' &&
    payload.wholeTypes.includes(only.type)
}

function notFound({ schema, name }: RoutineName, payload: Payload): RestFailure {
  const keys = payload.keys.toSorted()
  const called = `${schema}.${name}`
  const raw = payload.kind === 'raw'
  const list = keys.length === 0 ? ' without parameters' : `(${keys.join(', ')})`
  const plural = keys.length > 1 ? 'parameters' : 'parameter'
  const named = keys.length === 0 ? ' without parameters' : ` with ${plural} ${keys.join(', ')}`
  const whole = payload.wholeTypes.length === 0
    ? ''
    : `${raw ? '' : ' or'} with a single unnamed ${payload.wholeTypes.join('/')} parameter`
  return new RestFailure(
    404,
    'PGRST202',
    `Could not find the function ${called}${raw ? '' : list} in the schema cache`,
    `Searched for the function ${called}${raw ? '' : named}${whole}, ` +
      'but no matches were found in the schema cache.',
  )
}

function ambiguous({ schema, name }: RoutineName, routines: Routine[]): RestFailure {
  const candidates = routines.map(({ parameters }) => {
    const list = parameters.map((each) => `${each.name} => ${each.type}`).join(', ')
    return `${schema}.${name}(${list})`
  })
  return new RestFailure(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${candidates.join(', ')}`,
    null,
    'Try renaming the parameters or the function itself in the database so function overloading ' +
      'can be resolved',
  )
}
