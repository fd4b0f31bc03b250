import { join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { noticesFile, noticesText, packagesOfModule } from './notices.ts'
import { pack, type Packed } from './pack.ts'
import { runTool } from './run_tool.ts'

/** The edge functions of the package `outhook-functions`. */
export const packagedFunctions = ['api', 'deliver', 'metrics', 'ops-alerts', 'whatsapp'] as const

/** The functions as a package, and as folders that a project can copy. */
export interface PackedFunctions {
  packed: Packed
  /** The folders below `out`, such as `functions/outhook-deliver`. */
  folders: string[]
}

/**
 * Bundles each function of the project at `root` into one module without imports, except those of
 * Node. Packs them as `outhook-functions` into `out`, and writes one folder for each to
 * `out`/functions.
 */
export async function buildFunctions(root: string, out: string): Promise<PackedFunctions> {
  const folder = join(out, 'outhook-functions')
  await Deno.mkdir(folder, { recursive: true })
  const folders: string[] = []
  const packages: string[] = []
  for (const name of packagedFunctions) {
    const bundle = join(folder, `${name}.js`)
    await runTool(Deno.execPath(), [
      'bundle',
      '--quiet',
      '--minify',
      '--output',
      bundle,
      `package/functions/${name}.ts`,
    ], { cwd: root })
    await Deno.writeTextFile(join(folder, `${name}.d.ts`), declaration(name))
    const own = await packagesOfModule(root, `package/functions/${name}.ts`)
    packages.push(...own)
    folders.push(await writeFolder(out, name, bundle, await noticesText(own)))
  }
  await Deno.writeTextFile(join(folder, noticesFile), await noticesText(packages))
  await Deno.writeTextFile(join(folder, 'package.json'), manifest())
  await Deno.copyFile(join(root, 'package/functions/README.md'), join(folder, 'README.md'))
  await Deno.copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return { packed: await pack(folder, out), folders }
}

/** Writes what a project needs of one function, in a folder whose name no other function has. */
async function writeFolder(
  out: string,
  name: string,
  bundle: string,
  notices: string,
): Promise<string> {
  const path = join('functions', `outhook-${name}`)
  const folder = join(out, path)
  await Deno.mkdir(folder, { recursive: true })
  await Deno.copyFile(bundle, join(folder, `${name}.js`))
  await Deno.writeTextFile(join(folder, `${name}.d.ts`), declaration(name))
  await Deno.writeTextFile(join(folder, noticesFile), notices)
  await Deno.writeTextFile(
    join(folder, 'index.ts'),
    `// Outhook ${version}. @ts-types gives the type of the bundle, which is not checked.\n` +
      `// @ts-types="./${name}.d.ts"\nimport { serve } from './${name}.js'\n\nawait serve()\n`,
  )
  // Without a file of its own, a function takes the imports of a folder above it.
  await Deno.writeTextFile(join(folder, 'deno.json'), '{ "imports": {} }\n')
  return path
}

function declaration(name: string): string {
  return `/** Serves the edge function \`${name}\` of Outhook ${version}, under any name. */\n` +
    'export declare function serve(): void | Promise<void>\n'
}

function manifest(): string {
  const exported = packagedFunctions.map((name) => [
    `./${name}`,
    { types: `./${name}.d.ts`, default: `./${name}.js` },
  ])
  const text = {
    name: 'outhook-functions',
    version,
    description: 'The Supabase edge functions of Outhook, each as one module.',
    keywords: ['webhooks', 'outbox', 'supabase'],
    license: 'MIT',
    type: 'module',
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    files: ['*.js', '*.d.ts', noticesFile],
  }
  return `${JSON.stringify(text, null, 2)}\n`
}
