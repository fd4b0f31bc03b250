import { type Sources } from './sources.ts'

/** What tests may need besides what they import. */
export type Need =
  | 'postgres'
  | 'brokers'
  | 'edge Deno'
  | 'supabase'
  | 'redocly'
  | 'typescript client'
  | 'bun'
  | 'registry'
  | 'package tools'
  | 'console tools'
  | 'receiver packages'
  | 'react packages'
  | 'page packages'
  | 'bundler'
  | 'Node'

/** A need exists if the path of a used file, or its text, matches. */
const USES: Readonly<Record<Need, { path?: RegExp; text?: RegExp }>> = {
  // A file that starts a program of the project may start a database in it.
  postgres: {
    path: /\.test\.sql$|^supabase\/local\/postgres\/mod\.ts$/,
    text: /\bDeno\.execPath\(\)/,
  },
  brokers: { path: /^tests\/_support\/brokers\/install\.ts$/ },
  'edge Deno': { text: /\bedgeDeno\b/ },
  supabase: { text: /(?<!function )\brunCli\(/ },
  redocly: { text: /\bnpmTools\.redocly\b/ },
  'typescript client': { text: /\bnpmTools\.typescriptClient\b/ },
  bun: { text: /\bnpmTools\.bun\b/ },
  registry: { text: /\bnpmTools\.verdaccio\b/ },
  'package tools': { path: /^package\/build\/(command|package|worker)\.ts$/ },
  'console tools': { path: /^(console|portal)\/build\/build\.ts$/ },
  'receiver packages': { text: /\breceiverPackages\(/ },
  'react packages': { text: /\breactPackages\(/ },
  'page packages': { path: /^tests\/project\/_docs\.ts$/ },
  bundler: { text: /\[\s*'bundle'/ },
  Node: {
    path: /^tests\/package\/_support\/worker_folder\.ts$/,
    text: /(?<!function )\bbuiltForNode\(/,
  },
}

/** What the files need, given all that they use. The runner itself, in tests/_run/, needs nothing. */
export function needsOf(sources: Sources): Set<Need> {
  const used = [...sources].filter(([path]) => !path.startsWith('tests/_run/'))
  const needs = Object.entries(USES).filter(([, { path, text }]) =>
    used.some(([file, source]) => path?.test(file) || text?.test(source))
  )
  // SAFETY: the keys of USES are all needs.
  return new Set(needs.map(([need]) => need as Need))
}

/** Those of the programs whose name stands alone in quotes in a used file. */
export function programsOf(sources: Sources, programs: readonly string[]): string[] {
  const used = [...sources].filter(([path]) => path !== 'tests/_support/programs.ts')
  return programs.filter((program) => used.some(([, text]) => text.includes(`'${program}'`)))
}
