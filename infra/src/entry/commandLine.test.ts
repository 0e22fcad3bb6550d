import { describe, expect, it } from 'vitest';
import { GATEWAY_SETTINGS, STACK_SETTINGS } from '../settings/knownSettings.ts';
import { CommandLineError, readCommandLine } from './commandLine.ts';
import { optionOf, writeUsage } from './usage.ts';

describe('the command line', () => {
  it('names settings as options', () => {
    expect(readCommandLine(['deploy', '--stage', 'prod', '--identity-app-id=prism', '--yes', '--now'])).toEqual({
      action: 'deploy',
      given: { STAGE: 'prod', IDENTITY_APP_ID: 'prism' },
      yes: true,
      now: true,
    });
  });

  it('tells synth, deploy, diff and help apart', () => {
    const actionOf = (...args: string[]) => readCommandLine(args).action;
    expect(actionOf('synth')).toBe('synth');
    expect(actionOf('deploy')).toBe('deploy');
    expect(actionOf('deploy', '--diff')).toBe('diff');
    expect(actionOf('deploy', '--help')).toBe('help');
    expect(actionOf('-h')).toBe('help');
  });

  it.each([
    [[]],
    [['destroy']],
    [['synth', 'prod']],
    [['synth', '--stag', 'prod']],
    [['synth', '--stage']],
    [['synth', '--admin-api-key', 'x']],
  ])('refuses %j', (args) => {
    expect(() => readCommandLine(args)).toThrow(CommandLineError);
  });

  it('has every option in its help', () => {
    const usage = writeUsage();
    for (const name of [...Object.keys(STACK_SETTINGS), ...GATEWAY_SETTINGS])
      expect(usage).toContain(`--${optionOf(name)}`);
  });
});
