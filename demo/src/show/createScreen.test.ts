import { expect, it } from 'vitest';
import { createScreen } from './createScreen.ts';

function record(isTTY: boolean) {
  const clock = { ms: 0 };
  let written = '';
  const output = {
    isTTY,
    columns: 30,
    write(text: string) {
      written += text;
    },
  };
  function take(): string {
    const taken = written;
    written = '';
    return taken;
  }
  return { screen: createScreen(output, () => clock.ms), clock, take };
}

it('redraws its lines on a terminal, with what stays above them', () => {
  const { screen, take } = record(true);
  screen.update(['one', 'two']);
  expect(take()).toBe('one\ntwo\n');
  screen.update(['three', `${'x'.repeat(40)}`]);
  expect(take()).toBe(`\x1b[2A\x1b[0Jthree\n${'x'.repeat(29)}\n`);
  screen.log('stays');
  expect(take()).toBe(`\x1b[2A\x1b[0Jstays\nthree\n${'x'.repeat(29)}\n`);
  screen.settle();
  screen.log('below');
  expect(take()).toBe('below\n');
});

it('writes a line a second where nothing can be redrawn', () => {
  const { screen, clock, take } = record(false);
  screen.update(['one', 'two']);
  clock.ms = 900;
  screen.update(['not yet']);
  clock.ms = 1000;
  screen.update(['three']);
  screen.log('stays');
  expect(take()).toBe('one\nthree\nstays\n');
});
