import type { Command } from './command.ts';

/** Shells that completion is written for. */
export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** The first words of programs that are none of ours. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  relayer: ['status', 'explain'],
  watchtower: ['audit'],
  payments: [
    ...[
      'status',
      'list',
      'show',
      'ledger',
      'reconcile',
      'release',
      'hold',
      'close',
      'resume',
      'backup',
      'deploy-payouts',
    ],
  ],
  keystore: ['new', 'import'],
  completion: SHELLS,
};

/**
 * Writes a shell's completion of commands and options.
 *
 * @param shell - which writes it in its own way
 * @param known.programs - first words that are no commands of this program
 * @param known.commands - with their options
 */
export function writeCompletion(
  shell: Shell,
  { programs, commands }: { readonly programs: readonly string[]; readonly commands: readonly Command[] },
): string {
  const firsts = new Set([...programs, ...commands.map(({ name }) => name.split(' ')[0] ?? '')]);
  const groups = new Map<string, readonly string[]>(Object.entries(OTHERS).filter(([name]) => firsts.has(name)));
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  const options = commands.map(({ name, options: own, flags }) => {
    const all = ['url', 'key-file', 'json', 'help', ...Object.keys({ ...own, ...flags })].map(
      (option) => `--${option}`,
    );
    return `    "${name}"*) words="${all.join(' ')}" ;;`;
  });
  const seconds = [...groups].map(([first, words]) => `    "${first} ") words="${words.join(' ')}" ;;`);
  const begin = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return `${begin}_prism() {
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1} " words=""
  case "$line" in
    " ") words="${[...firsts].join(' ')}" ;;
${[...seconds, ...options].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _prism prism`;
}
