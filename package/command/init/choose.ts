import { confirm, isCancel, multiselect } from '@clack/prompts'
import { installedMigrations } from './migrations.ts'
import type { Project } from './plan.ts'

/** Modules of the schema besides the core, with what each is for. */
export const moduleHints: Readonly<Record<string, string>> = {
  api: 'the HTTP API for a backend or a dashboard',
  sagas: 'steps that are executed together or not at all',
  inbox: 'process each event once',
  watch: 'publish every change of a table',
  brokers: 'RabbitMQ, Kafka and Slack',
  messages: 'WhatsApp messages',
}

/** The functions that the modules need. */
export function functionsFor(modules: readonly string[]): string[] {
  return [
    'deliver',
    ...modules.includes('api') ? ['api'] : [],
    ...modules.includes('messages') ? ['whatsapp'] : [],
  ]
}

/** The modules without a choice: those of the project, or the API in a project without Outhook. */
export function defaultModules({ migrations }: Project): string[] {
  const installed = installedMigrations(migrations).map(({ module }) => module)
  if (!installed.includes('core')) return ['api']
  return installed.filter((module) => Object.hasOwn(moduleHints, module))
}

/** The prefix of the functions that the project has; null if it has none of Outhook. */
export function ownPrefix({ own }: Project): string | null {
  const [first] = own.filter(({ folder, name }) => folder.endsWith(`-${name}`))
  return first?.folder.slice(0, -`-${first.name}`.length) ?? null
}

/** Asks for the modules; null if the person cancels. */
export async function askModules(initialValues: string[]): Promise<string[] | null> {
  const answer = await multiselect({
    message: 'Which modules besides the core?',
    options: Object.entries(moduleHints).map(([value, hint]) => ({ value, label: value, hint })),
    initialValues,
    required: false,
  })
  return isCancel(answer) ? null : answer
}

/** Asks whether to carry out the plan. */
export async function askToApply(steps: number): Promise<boolean> {
  const answer = await confirm({ message: `Carry out these ${steps} steps?` })
  return answer === true
}
