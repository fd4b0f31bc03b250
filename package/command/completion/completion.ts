/** A command as a shell completes it. */
export interface Completed {
  name: string
  description: string
  /** Long options with their descriptions: `--project`. */
  options: readonly (readonly [name: string, description: string])[]
}

/** The shells that have a completion. */
export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = typeof shells[number]

/** The script that makes a shell complete the commands of `outhook` and their options. */
export function completionScript(shell: Shell, commands: readonly Completed[]): string {
  if (shell === 'fish') return fish(commands)
  // zsh runs the functions of bash.
  const head = shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []
  return [...head, ...bash(commands)].join('\n')
}

function bash(commands: readonly Completed[]): string[] {
  const cases = commands.map(({ name, options }) =>
    `    ${name}) words="${options.map(([option]) => option).join(' ')}" ;;`
  )
  return [
    '_outhook() {',
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${commands.map(({ name }) => name).join(' ')} --help --version"`,
    '  else case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac; fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _outhook outhook',
  ]
}

function fish(commands: readonly Completed[]): string {
  const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  return commands.flatMap(({ name, description, options }) => [
    `complete -c outhook -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
    ...options.map(([option, says]) =>
      `complete -c outhook -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)} ` +
      `-d ${quote(says)}`
    ),
  ]).join('\n')
}
