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
  const api = folders.get('api')
  return `
Next, on this machine: supabase start (or supabase migration up), then supabase functions serve.
${configure(folders, 'http://kong:8000/functions/v1', 'that of supabase/functions/.env')}

Next, for a hosted project:

  supabase link --project-ref <ref>
  supabase db push
  WORKER_SECRET=$(openssl rand -hex 32)
  supabase secrets set OUTHOOK_WORKER_SECRET="$WORKER_SECRET"
  supabase functions deploy ${[...folders.values()].join(' ')}

Expose the schema outbox: Project Settings, Data API.
${configure(folders, 'https://<ref>.supabase.co/functions/v1', 'the value of WORKER_SECRET')}${
    api === undefined
      ? ''
      : `\n\nCreate the client of the API with createClient({ functionName: '${api}', … })`
  }`
}

/** How the database gets the URL of the function that delivers. */
function configure(folders: ReadonlyMap<string, string>, url: string, secret: string): string {
  const deliver = folders.get('deliver')
  if (deliver === undefined) {
    return 'No function delivers yet. To add it, run: outhook init --functions deliver'
  }
  return `Then run this as SQL; the secret is ${secret}:

  select outbox.configure('${url}/${deliver}', '<secret>');`
}
