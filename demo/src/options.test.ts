import { CommandLineError } from '@prism-gateway/runtime/command-line';
import { expect, it } from 'vitest';
import { parseOptions } from './options.ts';

it('plays 200 requests of ten users unless told otherwise', () => {
  expect(parseOptions([])).toEqual({ requests: 200, users: 10, keep: false, verbose: false, help: false });
  expect(parseOptions(['--requests', '46', '--users', '4', '--keep'])).toMatchObject({
    requests: 46,
    users: 4,
    keep: true,
  });
});

it('says which numbers it takes', () => {
  const parse = (...args: string[]) => {
    return () => parseOptions(args);
  };
  expect(parse('--users', '1')).toThrow('--users: expected a whole number from 2 to 50.');
  expect(parse('--users', '4', '--requests', '45')).toThrow('from 46 to 242 with 4 users.');
  expect(parse('--requests', 'many')).toThrow(CommandLineError);
  expect(parse('--quick')).toThrow(CommandLineError);
});
