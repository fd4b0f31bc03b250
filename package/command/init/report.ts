import type { Plan } from './plan.ts'

/** The plan as text for a person, or as JSON without the texts of the files. */
export function showPlan(
  { steps, byHand, notes }: Plan,
  { json, applied }: { json: boolean; applied: boolean },
): string {
  if (json) {
    const short = steps.map(({ kind, path, what }) => ({ kind, path: `supabase/${path}`, what }))
    return JSON.stringify({ steps: short, byHand, notes, applied }, null, 2)
  }
  const lines = steps.length === 0 && byHand.length === 0
    ? ['Everything is there: nothing to do.']
    : steps.map(({ kind, path, what }) => `${kind} supabase/${path}: ${what}`)
  const manual = byHand.length === 0 ? [] : [
    '',
    'init cannot make these changes of supabase/config.toml safely. Make them yourself:',
    ...byHand,
  ]
  return [...lines, ...manual, ...notes.map((note) => `\n${note}`)].join('\n')
}

/** What remains to be done after the files are written. */
export function nextSteps(folders: ReadonlyMap<string, string>): string {
  const deliver = folders.get('deliver')
  if (deliver === undefined) {
    return '\nNo function delivers yet. To add it, run: outhook init --functions deliver'
  }
  const api = folders.get('api')
  return `
Next, for a hosted project that is linked (supabase link --project-ref <ref>):

  npx --no outhook deploy --project-ref <ref>

It pushes the migrations, exposes the schema outbox, deploys ${[...folders.values()].join(' and ')},
sets their secret, and checks the project with a test event. With --dry-run it only prints the commands.

Or, on this machine: supabase start (or supabase migration up), then supabase functions serve.
Then run this as SQL; the secret is that of supabase/functions/.env:

  select outbox.configure('http://kong:8000/functions/v1/${deliver}', '<secret>');${
    api === undefined
      ? ''
      : `\n\nCreate the client of the API with createClient({ functionName: '${api}', … })`
  }`
}
