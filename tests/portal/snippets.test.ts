/** The code that the portal shows for checking signatures, run in each language of the machine. */

import { expect } from '@std/expect'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseSecret, sign as signAttempt } from '../../functions/_shared/signing/sign.ts'
import { snippets } from '../../portal/element/snippets/snippets.ts'
import { testFolder } from '../_support/folder.ts'

interface Language {
  /** The file of the snippet. */
  file: string
  /** A second file, or text after the snippet, that calls it with the variables. */
  main: string
  mainFile?: string
  /** The programs that must be there, and how the files are run. */
  run: readonly (readonly [program: string, ...args: string[]])[]
}

const languages: Readonly<Record<string, Language>> = {
  JavaScript: {
    file: 'verify.mjs',
    mainFile: 'main.mjs',
    main: `import { verify } from './verify.mjs'
const { SECRET, ID, TIMESTAMP, SIGNATURE, BODY } = process.env
console.log(verify(SECRET, ID, TIMESTAMP, SIGNATURE, Buffer.from(BODY)))`,
    run: [['node', 'main.mjs']],
  },
  Python: {
    file: 'verify.py',
    mainFile: 'main.py',
    main: `import os
from verify import verify
e = os.environ
print(verify(e["SECRET"], e.get("ID"), e.get("TIMESTAMP"), e.get("SIGNATURE"), e["BODY"].encode()))`,
    run: [['python3', 'main.py']],
  },
  Ruby: {
    file: 'verify.rb',
    mainFile: 'main.rb',
    main: `require "./verify"
puts verify(*ENV.values_at("SECRET", "ID", "TIMESTAMP", "SIGNATURE", "BODY"))`,
    run: [['ruby', 'main.rb']],
  },
  PHP: {
    file: 'verify.php',
    mainFile: 'main.php',
    main: `<?php require 'verify.php';
$header = fn(string $name): ?string => getenv($name) === false ? null : getenv($name);
var_export(verify(getenv('SECRET'), $header('ID'), $header('TIMESTAMP'), $header('SIGNATURE'), getenv('BODY')));`,
    run: [['php', 'main.php']],
  },
  Go: {
    file: 'webhook/verify.go',
    mainFile: 'main.go',
    main: `package main

import (
	"fmt"
	"os"
	"test/webhook"
)

func main() {
	e := os.Getenv
	fmt.Println(webhook.Verify(e("SECRET"), e("ID"), e("TIMESTAMP"), e("SIGNATURE"), []byte(e("BODY"))))
}`,
    run: [['go', 'mod', 'init', 'test'], ['go', 'build', '-o', 'main', '.'], ['./main']],
  },
  Java: {
    file: 'Webhook.java',
    mainFile: 'Main.java',
    main: `class Main {
  public static void main(String[] args) throws Exception {
    var e = System.getenv();
    System.out.println(Webhook.verify(e.get("SECRET"), e.get("ID"), e.get("TIMESTAMP"),
        e.get("SIGNATURE"), e.get("BODY").getBytes("UTF-8")));
  }
}`,
    run: [['javac', 'Main.java', 'Webhook.java'], ['java', '-Dfile.encoding=UTF-8', 'Main']],
  },
}

const key = randomBytes(24)
const body = '{"data":{"name":"Grüße","n":12345678901234567890}}'
const id = '019a9c6e-8f3c-7d1a-9b1e-0c5f6a7b8c9d'

/** Signs as the function `deliver` does. */
function sign(timestamp: string, secret = key): string {
  const prepared = parseSecret(`whsec_${secret.toString('base64')}`)
  return signAttempt(id, Number(timestamp), new TextEncoder().encode(body), [prepared]).standard
}

function requests(): [what: string, env: Record<string, string>, isValid: boolean][] {
  const now = String(Math.floor(Date.now() / 1000))
  const old = String(Number(now) - 3600)
  const good = {
    ...{ SECRET: `whsec_${key.toString('base64')}`, ID: id, TIMESTAMP: now, BODY: body },
    SIGNATURE: sign(now),
  }
  const rotated = `${sign(now, randomBytes(24))} v1a,AAAA ${sign(now)}`
  return [
    ['a valid one', good, true],
    ['one of several signatures', { ...good, SIGNATURE: rotated }, true],
    ['another body', { ...good, BODY: `${body} ` }, false],
    ['another id', { ...good, ID: 'other' }, false],
    ['another secret', { ...good, SECRET: `whsec_${randomBytes(24).toString('base64')}` }, false],
    ['an old one', { ...good, TIMESTAMP: old, SIGNATURE: sign(old) }, false],
    ['no signature', { ...good, SIGNATURE: 'v1,' }, false],
    ['a timestamp that is no number', { ...good, TIMESTAMP: '²', SIGNATURE: sign(now) }, false],
    ['no headers', { SECRET: good.SECRET, BODY: body }, false],
  ]
}

async function run(
  folder: string,
  [program, ...args]: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<string> {
  const path = program.startsWith('./') ? join(folder, program) : program
  const { success, stdout, stderr } = await new Deno.Command(path, {
    ...{ args, cwd: folder, stdin: 'null' },
    // Go keeps what it builds below HOME.
    env: { ...env, GOFLAGS: '-mod=mod', GOCACHE: join(folder, '.cache'), GOTOOLCHAIN: 'local' },
  }).output()
  const decoder = new TextDecoder()
  if (!success) throw new Error(`${program}: ${decoder.decode(stderr)}`)
  return decoder.decode(stdout).trim().toLowerCase()
}

function isThere(program: string): boolean {
  return program.startsWith('./') || (Deno.env.get('PATH') ?? '').split(':').some((folder) => {
    try {
      return Deno.statSync(join(folder, program)).isFile
    } catch {
      return false
    }
  })
}

Deno.test('each language of the portal has a program that calls it', () => {
  expect(snippets.map(({ language }) => language)).toEqual(Object.keys(languages))
})

for (const { language, code } of snippets) {
  const known = languages[language]
  const programs = known?.run.map(([program]) => program) ?? []
  const missing = programs.find((program) => !isThere(program))
  Deno.test({
    // The name says why it is left out.
    name: missing === undefined
      ? `the ${language} snippet accepts authentic requests and no others`
      : `the ${language} snippet is not run: ${missing} is not on this machine`,
    ignore: missing !== undefined,
    async fn(): Promise<void> {
      if (known === undefined) throw new Error(`${language} is not known`)
      const folder = testFolder()
      try {
        await Deno.mkdir(join(folder, known.file, '..'), { recursive: true })
        await Deno.writeTextFile(join(folder, known.file), code)
        if (known.mainFile !== undefined) {
          await Deno.writeTextFile(join(folder, known.mainFile), known.main)
        }
        const builds = known.run.slice(0, -1)
        const last = known.run.at(-1)
        for (const step of builds) await run(folder, step, {})
        if (last === undefined) throw new Error('nothing is run')
        for (const [what, env, isValid] of requests()) {
          expect([what, await run(folder, last, env)]).toEqual([what, String(isValid)])
        }
      } finally {
        await Deno.remove(folder, { recursive: true })
      }
    },
  })
}
