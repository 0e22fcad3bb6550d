import { parseArgs } from 'node:util';
import { GATEWAY_SETTINGS, type GivenSettings, STACK_SETTINGS } from '../settings/knownSettings.ts';
import { optionOf } from './usage.ts';

/** Options of the command line. */
export interface CommandLine {
  readonly action: 'synth' | 'deploy' | 'diff' | 'help';
  /** Settings given as options. */
  readonly given: GivenSettings;
  readonly settingsFile?: string;
  /** Deploy without asking. */
  readonly yes: boolean;
  /** Give a new version all calls at once. */
  readonly now: boolean;
}

/** A command line that cannot be understood. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
  readonly code = 'COMMAND_LINE_INVALID';
}

const SETTING_NAMES = [...Object.keys(STACK_SETTINGS), ...GATEWAY_SETTINGS];
const settingOptions = Object.fromEntries(SETTING_NAMES.map((name) => [optionOf(name), { type: 'string' as const }]));

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...settingOptions,
        settings: { type: 'string' },
        yes: { type: 'boolean', default: false },
        now: { type: 'boolean', default: false },
        diff: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    // Its message names the option and says what is wrong with it.
    throw new CommandLineError(error instanceof Error ? error.message : String(error));
  }
}

function actionOf([command, ...more]: readonly string[], flags: { readonly help: boolean; readonly diff: boolean }) {
  if (flags.help) return 'help';
  if (more.length > 0) throw new CommandLineError(`Unexpected argument: ${more[0]}. Options begin with --.`);
  if (command === 'synth') return 'synth';
  if (command === 'deploy') return flags.diff ? 'diff' : 'deploy';
  throw new CommandLineError('Expected synth or deploy.');
}

/**
 * Reads the command line.
 *
 * @param args - arguments, without the program's own name
 * @throws CommandLineError (`COMMAND_LINE_INVALID`)
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const options: Readonly<Record<string, unknown>> = values;
  const given = SETTING_NAMES.flatMap((name) => {
    const value = options[optionOf(name)];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    action: actionOf(positionals, { help: values.help, diff: values.diff }),
    given: Object.fromEntries(given),
    ...(values.settings !== undefined && { settingsFile: values.settings }),
    yes: values.yes,
    now: values.now,
  };
}
