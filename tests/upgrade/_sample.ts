import { join } from 'node:path'
import { projectVersion, type Release, releaseOf } from '../../supabase/local/schema/release.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { copyTree } from '../mutants/tree.ts'

/** A text that occurs once in a file, and the text that the sample has instead. */
interface Edit {
  file: string
  find: string
  replace: string
}

/** The project as it could be one minor version later, in a folder of its own. */
export interface Sample extends AsyncDisposable {
  readonly root: string
  readonly version: string
  /** The version of this project, from which the sample is an upgrade. */
  readonly release: Release
}

/** Sample steps: a column, a renamed column, and an index on a partitioned table. */
const steps = `-- Steps of the sample.
alter table outbox.dead_letter rename column note to remark;
alter table outbox.dead_letter add column seen_at timestamptz;
create index attempt_failures on only outbox.attempt (error_class, at) where outcome = 'failed';
`

const edits: readonly Edit[] = [
  {
    file: 'sql/engine/queue/attempt.sql',
    find: '  note text,\n  at_broker boolean not null default false,\n',
    replace:
      '  remark text,\n  at_broker boolean not null default false,\n  seen_at timestamptz,\n',
  },
  {
    file: 'sql/engine/queue/attempt.sql',
    find:
      "create index attempt_missing on outbox.attempt (event_id) where outcome = 'event_missing';\n",
    replace:
      "create index attempt_missing on outbox.attempt (event_id) where outcome = 'event_missing';\n" +
      "create index attempt_failures on outbox.attempt (error_class, at) where outcome = 'failed';\n",
  },
  {
    file: 'sql/operations/discard_dead_letter.sql',
    find: 'set discarded_at = outbox.clock(), note = p_reason',
    replace: 'set discarded_at = outbox.clock(), seen_at = outbox.clock(), remark = p_reason',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: '      note = null\n',
    replace: '      remark = null, seen_at = null\n',
  },
  { file: 'sql/api/dead_letters.sql', find: 'p_letter.note)', replace: 'p_letter.remark)' },
  // A contract in which a member of the response has another name.
  {
    file: 'sql/engine/run/contract.sql',
    find: `return '{"oldest": 1, "newest": 1}'::jsonb;`,
    replace: `return '{"oldest": 1, "newest": 2}'::jsonb;`,
  },
  {
    file: 'sql/engine/run/response.sql',
    find: '  p_more boolean default false\n) returns json',
    replace: '  p_more boolean default false,\n  p_contract integer default 1\n) returns json',
  },
  {
    file: 'sql/engine/run/response.sql',
    find: "'applied', p_applied, 'stale', p_stale,",
    replace:
      "'applied', p_applied, case when p_contract >= 2 then 'ignored' else 'stale' end, p_stale,",
  },
  {
    file: 'sql/engine/run/response.sql',
    find: 'outbox.parcel, json, json, json, text, boolean\n) is',
    replace: 'outbox.parcel, json, json, json, text, boolean, integer\n) is',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'v_stop, null, null, null, null, v_problem);',
    replace: 'v_stop, null, null, null, null, v_problem, false,\n      v_contract);',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'v_stop, null, null, null, null);',
    replace: 'v_stop, null, null, null, null, null, false,\n      v_contract);',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: 'v_handed.parcel, null, null, null,\n      v_problem);',
    replace: 'v_handed.parcel, null, null, null,\n      v_problem, false, v_contract);',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: "outbox.is_cut(v_handed.claimed, v_limit, (v_route ->> 'routed')::integer, v_now));",
    replace:
      "outbox.is_cut(v_handed.claimed, v_limit, (v_route ->> 'routed')::integer, v_now),\n    v_contract);",
  },
  {
    file: 'functions/_shared/contract/range.ts',
    find: '{ oldest: 1, newest: 1 }',
    replace: '{ oldest: 1, newest: 2 }',
  },
  {
    file: 'functions/_shared/database/dispatch.ts',
    find: 'dispatchResponse.safeParse(value)',
    replace: `dispatchResponse.safeParse(
    typeof value === 'object' && value !== null && 'ignored' in value
      ? { ...value, stale: value.ignored }
      : value,
  )`,
  },
]

/** Copies the project and makes the next minor version of the copy. */
export async function makeSample(): Promise<Sample> {
  const release = await releaseOf(projectRoot)
  const tree = await copyTree(projectRoot)
  const version = nextMinor(await projectVersion(projectRoot))
  const number: Edit[] = ['sql/foundation/setup.sql', 'functions/_shared/base/version.ts']
    .map((file) => ({ file, find: `'${release.version}'`, replace: `'${version}'` }))
  try {
    for (const edit of [...edits, ...number]) await apply(tree.root, edit)
    const folder = join(tree.root, 'sql/upgrades', version, 'core')
    await Deno.mkdir(folder, { recursive: true })
    await Deno.writeTextFile(join(folder, 'sample.sql'), steps)
  } catch (error) {
    await tree[Symbol.asyncDispose]()
    throw error
  }
  const dispose = (): PromiseLike<void> => tree[Symbol.asyncDispose]()
  return { root: tree.root, version, release, [Symbol.asyncDispose]: dispose }
}

async function apply(root: string, { file, find, replace }: Edit): Promise<void> {
  const path = join(root, file)
  const text = await Deno.readTextFile(path)
  const parts = text.split(find)
  if (parts.length !== 2) {
    throw new Error(`${file} has this text ${parts.length - 1} times, not once:\n${find}`)
  }
  await Deno.writeTextFile(path, parts.join(replace))
}

function nextMinor(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return `${major}.${minor + 1}.0`
}
