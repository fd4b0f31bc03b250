/** Reads the catalogue for calls. PostgREST caches its schema until a reload; this caches for 500 ms. */
import type postgres from 'postgres'
import { z } from 'zod'

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
  /** Returns objects: a row type, or OUT, INOUT or TABLE columns. */
  composite: z.boolean(),
  void: z.boolean(),
  /** Returns `json` or `jsonb`, which is passed on as text. */
  json: z.boolean(),
  settings: z.array(z.string()),
  parameters: z.array(parameter),
})

const catalogEntry = z.object({
  routines: z.array(routine),
  roleSettings: z.array(z.string()),
  /** `pgrst.db_tx_end` of the API role: whether callers may request a rollback. */
  txEnd: z.string().nullable(),
})

/** The properties of a function of an exposed schema that a call needs. */
export type Routine = z.infer<typeof routine>

/** The functions of a name, and the caller's role. */
export type CatalogEntry = z.infer<typeof catalogEntry>

/** The name in the request. */
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

/** Reads functions and roles from the catalogue. */
export interface Catalog {
  /** The cached entry, or a new one. */
  known(name: RoutineName, role: string): Promise<CatalogEntry>
  /** A new entry, for a call that the cached one does not match. */
  read(name: RoutineName, role: string): Promise<CatalogEntry>
}

/**
 * How long a changed setting or result type may stay unnoticed, as on the platform. Reading the catalogue
 * for each call took 4 µs of the gateway for each delivery by RPC.
 */
const KEPT_MS = 500

/** The most cached entries; a stack has a hundred functions and three roles. */
const MAX_KEPT = 1000

/** Creates a catalogue over a database; `now` is a monotonic clock in ms. */
export function createCatalog(sql: postgres.Sql, now = (): number => performance.now()): Catalog {
  const kept = new Map<string, { until: number; entry: CatalogEntry }>()

  async function read(name: RoutineName, role: string): Promise<CatalogEntry> {
    const entry = await readCatalog(sql, name, role)
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(keyOf(name, role), { until: now() + KEPT_MS, entry })
    return entry
  }

  async function known(name: RoutineName, role: string): Promise<CatalogEntry> {
    const found = kept.get(keyOf(name, role))
    return found !== undefined && now() < found.until ? found.entry : await read(name, role)
  }

  return { known, read }
}

function keyOf({ schema, name }: RoutineName, role: string): string {
  return JSON.stringify([schema, name, role])
}

/** Reads an entry in one round trip. */
async function readCatalog(
  sql: postgres.Sql,
  { schema, name }: RoutineName,
  role: string,
): Promise<CatalogEntry> {
  const rows = await sql.unsafe(CATALOG_QUERY, [schema, name, role], { prepare: true })
  // The last row, not the first: after an error within rows, postgres.js (3.4.9) continues its count in the
  // connection's next result, whose only row then follows empty ones.
  return catalogEntry.parse(JSON.parse(rows.at(-1)?.entry))
}
