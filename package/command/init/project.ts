import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ignoresEnv, isInGit } from './git.ts'
import type { OwnFunction, Project, Step } from './plan.ts'

/** Reads what the project in the folder `supabase` has; null if there is no config.toml. */
export function readProject(supabase: string): Project | null {
  const config = readOrNull(join(supabase, 'config.toml'))
  if (config === null) return null
  const functions = foldersIn(join(supabase, 'functions'))
  const ignore = readOrNull(join(supabase, '.gitignore'))
  return {
    config,
    migrations: namesIn(join(supabase, 'migrations')),
    functions,
    own: functions.flatMap((folder) => ownFunction(supabase, folder)),
    env: readOrNull(join(supabase, 'functions', '.env')),
    ignore,
    isInGit: isInGit(supabase),
    isEnvIgnored: ignoresEnv(supabase, ignore),
  }
}

/** Reads the first lines that the build gives to the index.ts of each function. */
function ownFunction(supabase: string, folder: string): OwnFunction[] {
  const text = readOrNull(join(supabase, 'functions', folder, 'index.ts')) ?? ''
  const [, version] = /^\/\/ Outhook (\d+\.\d+\.\d+)\./.exec(text) ?? []
  const [, name] = /^import \{ serve \} from '\.\/([a-z-]+)\.js'/m.exec(text) ?? []
  return version === undefined || name === undefined ? [] : [{ folder, name, version }]
}

/**
 * Carries out a plan. Each file and each folder of a function appears whole: after an interruption, a
 * second run adds what is missing.
 */
export function applySteps(supabase: string, steps: readonly Step[]): void {
  for (const { kind, path, content, isSecret } of steps) {
    const target = join(supabase, path)
    mkdirSync(dirname(target), { recursive: true })
    // The CLI ignores this name, among migrations as well as among functions.
    const draft = join(dirname(target), '.outhook-draft')
    rmSync(draft, { recursive: true, force: true })
    if (typeof content !== 'string') {
      writeFolder(draft, content)
      renameSync(draft, target)
    } else if (kind === 'create') {
      writeFileSync(draft, content, isSecret === true ? { mode: 0o600 } : {})
      // Unlike a renaming, a link replaces nothing.
      linkSync(draft, target)
      rmSync(draft)
    } else {
      const mode = statSync(target, { throwIfNoEntry: false })?.mode
      writeFileSync(draft, content, mode === undefined ? {} : { mode })
      renameSync(draft, target)
    }
  }
}

function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder)
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
}

function readOrNull(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

/** The folders, also those that are links. */
function foldersIn(folder: string): string[] {
  return namesIn(folder).filter((name) => {
    return statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true
  })
}
