import { expect } from '@std/expect'
import { readFunctionConfigs, readFunctionEnv } from '../../../supabase/local/functions/config.ts'
import { testFolder } from '../../_support/folder.ts'

/** A project with these files under `supabase/`, removed after the test. */
async function withProject(
  files: Record<string, string>,
  work: (path: string) => Promise<void>,
): Promise<void> {
  const path = testFolder()
  await Deno.mkdir(path, { recursive: true })
  try {
    await Deno.mkdir(`${path}/supabase/functions`, { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${path}/supabase/${name}`, text)
    }
    await work(path)
  } finally {
    await Deno.remove(path, { recursive: true })
  }
}

Deno.test('readFunctionConfigs() resolves paths and fills in the platform defaults', async () => {
  const toml = `
    [functions.one]
    verify_jwt = false
    entrypoint = "../functions/one/index.ts"
    import_map = "../deno.json"
    [functions.two]
    [functions.off]
    enabled = false`
  await withProject({ 'config.toml': toml }, async (path) => {
    expect(await readFunctionConfigs(path)).toEqual([
      {
        name: 'one',
        verifyJwt: false,
        entrypoint: `${path}/functions/one/index.ts`,
        importMap: `${path}/deno.json`,
      },
      {
        name: 'two',
        verifyJwt: true,
        entrypoint: `${path}/supabase/functions/two/index.ts`,
        importMap: null,
      },
    ])
  })
})

Deno.test('readFunctionConfigs() names the field that is wrong', async () => {
  const toml = '[functions.one]\nverify_jwt = "no"'
  await withProject({ 'config.toml': toml }, async (path) => {
    await expect(readFunctionConfigs(path)).rejects.toThrow(/functions\.one\.verify_jwt/)
  })
})

Deno.test('readFunctionEnv() leaves out the names of the platform', async () => {
  const text = 'MINE="a b"\n# note\nSUPABASE_URL=http://elsewhere\n'
  await withProject({ 'functions/.env': text }, async (path) => {
    expect(await readFunctionEnv(path)).toEqual({ MINE: 'a b' })
  })
  await withProject({}, async (path) => expect(await readFunctionEnv(path)).toEqual({}))
})
