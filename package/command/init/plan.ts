import { editConfig } from './config_toml.ts'
import { installedMigrations, newMigrations, type SourceMigration } from './migrations.ts'

/** What the command brings along. */
export interface Assets {
  version: string
  migrations: readonly SourceMigration[]
  /** The files of each function by its name here, such as `deliver`. */
  functions: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** A folder of the project that has a function of Outhook. */
export interface OwnFunction {
  folder: string
  /** Its name here, such as `deliver`. */
  name: string
  version: string
}

/** What the project has. Paths are below `supabase/`. */
export interface Project {
  config: string
  migrations: readonly string[]
  /** The names of the folders in `functions/`. */
  functions: readonly string[]
  /** Those of them that `init` has written. */
  own: readonly OwnFunction[]
  /** The text of `functions/.env`; null if there is none. */
  env: string | null
  /** The text of `.gitignore`; null if there is none. */
  ignore: string | null
  isInGit: boolean
  /** Whether Git ignores `functions/.env`. */
  isEnvIgnored: boolean
}

/** What the person chose. */
export interface Choice {
  modules: readonly string[]
  functions: readonly string[]
  /** With a hyphen before the name of a function: `outhook` makes `outhook-deliver`. */
  prefix: string
}

/** A file or a folder to create, or a file to change; `replace`: a file to change, or to create. */
export interface Step {
  kind: 'create' | 'change' | 'replace'
  path: string
  /** The text of a file, or the files of a folder. */
  content: string | ReadonlyMap<string, string>
  /** What it does, for the plan. */
  what: string
  /** Whether only the owner may read the file. */
  isSecret?: boolean
}

export interface Plan {
  steps: Step[]
  /** Lines that a person must add to config.toml, or change there. */
  byHand: string[]
  /** What a person should know. */
  notes: string[]
  /** The folders of the functions by their names here, with those that the project had. */
  folders: ReadonlyMap<string, string>
}

/** Where the plan gets what is different in each run. */
export interface Sources {
  now: Date
  /** Creates a secret for `.env`. */
  newSecret(): string
}

/** What is missing in the project. A project that has everything gets a plan without steps. */
export function makePlan(
  { version, migrations, functions }: Assets,
  project: Project,
  choice: Choice,
  { now, newSecret }: Sources,
): Plan {
  const steps: Step[] = []
  const options = { modules: choice.modules, version, now }
  for (const { name, text } of newMigrations(migrations, project.migrations, options)) {
    const what = 'the schema outbox'
    steps.push({ kind: 'create', path: `migrations/${name}`, content: text, what })
  }
  const own = new Map(project.own.map(({ name, folder }) => [name, folder]))
  const folders = new Map<string, string>()
  for (const name of new Set([...choice.functions, ...own.keys()])) {
    const folder = own.get(name) ?? `${choice.prefix}-${name}`
    folders.set(name, folder)
    // A folder that is there is the user's, also after an edit.
    if (project.functions.includes(folder)) continue
    const content = functions.get(name) ?? new Map()
    steps.push({
      kind: 'create',
      path: `functions/${folder}`,
      content,
      what: `the function ${name}`,
    })
  }
  const edit = editConfig(project.config, { schema: 'outbox', functions: [...folders.values()] })
  steps.push(
    ...configSteps(project.config, edit.text),
    // Before the secret, so that it is never in a file that Git takes.
    ...ignoreSteps(project),
    ...envSteps(project.env, newSecret),
  )
  const changes = steps.some(({ kind }) => kind === 'change') && !project.isInGit
  const notes = [
    ...edit.notes,
    ...copiedNotes(project.migrations),
    ...changes
      ? ['This project is in no Git repository: copy it first if you may want to undo the changes']
      : [],
  ]
  return { steps, byHand: edit.byHand, notes, folders }
}

function configSteps(config: string, content: string): Step[] {
  if (content === config) return []
  const what = 'exposes the schema outbox and declares the functions'
  return [{ kind: 'change', path: 'config.toml', content, what }]
}

/** The `.gitignore` of `supabase init` does not have the file. */
function ignoreSteps({ ignore, isEnvIgnored }: Project): Step[] {
  if (isEnvIgnored) return []
  return [{
    kind: ignore === null ? 'create' : 'change',
    path: '.gitignore',
    content: `${wholeLines(ignore)}functions/.env\n`,
    what: 'keeps the secret of the local functions out of Git',
  }]
}

const secretName = 'OUTHOOK_WORKER_SECRET'

/** The secret that signs kicks, for the functions of the local stack. */
function envSteps(env: string | null, newSecret: () => string): Step[] {
  const line = new RegExp(String.raw`^[ \t]*(?:export[ \t]+)?${secretName}[ \t]*=`, 'm')
  if (env !== null && line.test(env)) return []
  return [{
    kind: env === null ? 'create' : 'change',
    path: 'functions/.env',
    content: `${wholeLines(env)}${secretName}=${newSecret()}\n`,
    what: 'the secret of the local functions',
    isSecret: true,
  }]
}

function wholeLines(text: string | null): string {
  return text === null || text === '' || text.endsWith('\n') ? text ?? '' : `${text}\n`
}

function copiedNotes(migrations: readonly string[]): string[] {
  const copied = installedMigrations(migrations).filter(({ version }) => version === null)
  if (copied.length === 0) return []
  const files = copied.map(({ file }) => file).join(', ')
  return [`These migrations of Outhook were copied by hand and count as installed: ${files}`]
}
