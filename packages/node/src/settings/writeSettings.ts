import type { Setting, Settings } from './setting.ts';

/** Width of a line of help. */
const WIDTH = 132;
const [NAME_WIDTH, INITIAL_WIDTH] = [32, 26];

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function writeSetting(name: string, { initial, help, isSecret, heading }: Setting): string[] {
  const margin = ' '.repeat(2 + NAME_WIDTH + INITIAL_WIDTH);
  const full = isSecret ? `${help}; or ${name}_FILE names a file that holds it` : help;
  const [first = '', ...rest] = wrap(full, WIDTH - margin.length);
  const start = `  ${name.padEnd(NAME_WIDTH - 1)} ${initial.padEnd(INITIAL_WIDTH - 1)} `;
  const begun = start.length > margin.length ? [start.trimEnd(), margin + first] : [start + first];
  return [...(heading === undefined ? [] : ['', `${heading}:`]), ...begun, ...rest.map((line) => margin + line)];
}

/** Writes what `--help` says of a program's settings: a line each, with its default, under their headings. */
export const writeSettingsHelp = (settings: Settings): string =>
  Object.entries(settings)
    .flatMap(([name, entry]) => writeSetting(name, entry))
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
    .replace(/^(?=[A-Z_]+ )/, '  ');

/** Writes a program's settings as lists of Markdown, for the documents. */
export const writeSettingsPage = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, { initial, help, isSecret, heading }]) => {
      const about = [initial === '' ? '' : `\`${initial}\``, isSecret ? 'secret' : ''].filter((part) => part !== '');
      const shown = about.length === 0 ? '' : ` (${about.join(', ')})`;
      const title = heading === undefined ? '' : `\n${heading}:\n\n`;
      return `${title}- \`${name}\`${shown}: ${help.replaceAll('<', '&lt;')}`;
    })
    .join('\n');
