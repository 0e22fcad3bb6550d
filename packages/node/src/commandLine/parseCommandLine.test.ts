import { expect, test } from 'vitest';
import { parseCommandLine } from './parseCommandLine.ts';

const config = { options: { port: { type: 'string' }, json: { type: 'boolean' } } } as const;

test.each([
  [['--prot', '1'], 'There is no option --prot. Try --help.'],
  [['-x'], 'There is no option -x. Try --help.'],
  [['--constructor'], 'There is no option --constructor. Try --help.'],
  [['--port'], '--port wants a value. Try --help.'],
  [['--port', '--json'], '--port wants a value. Try --help.'],
  [['--json=yes'], '--json takes no value. Try --help.'],
  [['more'], 'It takes no argument "more". Try --help.'],
  [['--', '--json'], 'It takes no argument "--json". Try --help.'],
])('%j: one sentence that names the argument', (args, sentence) => {
  expect(() => parseCommandLine({ ...config, args })).toThrow(sentence);
});

test('what is right is parsed as Node does', () => {
  expect(parseCommandLine({ ...config, args: ['--port=-1', '--json'] }).values).toEqual({ port: '-1', json: true });
  const words = parseCommandLine({ ...config, allowPositionals: true, args: ['a', '--', '--b'] });
  expect(words.positionals).toEqual(['a', '--b']);
});
