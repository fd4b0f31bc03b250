import {
  functionsCommand,
  pushCommand,
  queryCommand,
  setSecretsCommand,
  shownCommand,
} from './commands.ts'
import { type Deployment, functionsUrl, secretName } from './deployment.ts'

type Planned = Pick<Deployment, 'targets' | 'own' | 'url'>

/** The commands in their order, with names instead of secrets and temporary files. */
export function plannedCommands({ targets, own, url }: Planned): string[] {
  const folders = own.map(({ folder }) => folder)
  const onPlatform = targets.projectRef === null
    ? ['# deploy the folders of the functions yourself']
    : [
      shownCommand(functionsCommand(targets, folders)),
      `# if a side has no secret: a file with ${secretName}=<a new secret>`,
      shownCommand(setSecretsCommand(targets, 'secrets.env')),
    ]
  return [
    shownCommand(pushCommand(targets)),
    `# expose the schema outbox in the Data API of ${url}`,
    ...onPlatform,
    `# a file that calls outbox.configure() with ${functionsUrl({ url, own })} and the secret`,
    shownCommand(queryCommand(targets, 'configure.sql')),
    `outhook check --url ${url}`,
  ]
}
