import { expect } from '@std/expect'
import { type Completed, completionScript } from '../../../package/command/completion/completion.ts'

const commands: Completed[] = [
  {
    name: 'init',
    description: "Add it to a user's project",
    options: [
      ['--project', 'the folder'],
      ['--prefix', 'the start'],
      ['--yes', 'at once'],
    ],
  },
  { name: 'status', description: 'Print', options: [['--json', 'as JSON']] },
]

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `${completionScript('bash', commands)}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _outhook; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { code, stdout } = await new Deno.Command('bash', { args: ['-c', script] }).output()
  expect(code).toBe(0)
  return new TextDecoder().decode(stdout).split('\n').filter((line) => line !== '')
}

Deno.test('bash completes the names of commands, and the options of one', async () => {
  expect(await offered('outhook', '')).toEqual(['init', 'status', '--help', '--version'])
  expect(await offered('outhook', 'st')).toEqual(['status'])
  expect(await offered('outhook', 'init', '--pr')).toEqual(['--project', '--prefix'])
  expect(await offered('outhook', 'status', '--')).toEqual(['--json'])
  expect(await offered('outhook', 'unknown', '--')).toEqual([])
})

Deno.test('zsh gets the functions of bash, and fish a line for each word, in quotes', () => {
  expect(completionScript('zsh', commands)).toMatch(
    /^autoload -U \+X bashcompinit[\s\S]*_outhook\(\)/,
  )
  expect(completionScript('fish', commands).split('\n').slice(0, 2)).toEqual([
    String
      .raw`complete -c outhook -n __fish_use_subcommand -a init -d 'Add it to a user\'s project'`,
    `complete -c outhook -n '__fish_seen_subcommand_from init' -l project -d 'the folder'`,
  ])
})
