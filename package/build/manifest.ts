import { noticesFile } from './notices.ts'
import { portalModules } from './portal.ts'

/** An entry point of the package: its bundle and its declarations, both from the package's root. */
export interface EntryPoint {
  /** As `exports` of package.json names it. */
  name: string
  /** The source, from the root of the project. */
  source: string
  bundle: string
  types: string
}

/** The modules that a program may import from the package. */
export const entryPoints: readonly EntryPoint[] = [
  {
    name: '.',
    source: 'package/client/mod.ts',
    bundle: 'client.js',
    types: 'types/client/mod.d.ts',
  },
  {
    name: './receive',
    source: 'package/receive/mod.ts',
    bundle: 'receive.js',
    types: 'types/receive/mod.d.ts',
  },
]

/**
 * The program of the package. It runs the command of `outhook-command`, whose program has the same name, so
 * that `npx outhook` does the same whichever of the two npm has linked.
 */
export const program = { source: 'package/program/main.ts', bundle: 'outhook.js' }

/** The package.json of the package. */
export function packageJson(version: string): string {
  const exported = entryPoints.map(({ name, bundle, types }) => [
    name,
    // TypeScript takes the first condition that it knows.
    { types: `./${types}`, default: `./${bundle}` },
  ])
  const manifest = {
    name: 'outhook',
    version,
    description: 'Publish, receive and manage the webhooks of an Outhook in a Supabase project.',
    keywords: ['webhooks', 'outbox', 'supabase', 'events'],
    license: 'MIT',
    type: 'module',
    // AbortSignal.any() is there from this version on.
    engines: { node: '>=20.3' },
    bin: { outhook: program.bundle },
    // Importing it defines the element.
    sideEffects: ['./portal/portal.js'],
    exports: {
      ...Object.fromEntries(exported),
      ...portalModules,
      './package.json': './package.json',
    },
    files: ['*.js', 'types', 'portal', noticesFile],
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}
