import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { GATEWAY_SETTINGS, type GivenSettings, STACK_SETTINGS } from '../settings/knownSettings.ts';
import { StageSettingsError } from '../settings/stageSettingsError.ts';

const KNOWN = new Set<string>([...Object.keys(STACK_SETTINGS), ...GATEWAY_SETTINGS]);

/**
 * Reads a file of settings, `NAME=value` a line.
 *
 * @throws StageSettingsError where it is not there, or holds a name that is no setting (or a secret, which has no place in a file)
 */
export function readSettingsFile(file: string): GivenSettings {
  if (!existsSync(file)) throw new StageSettingsError([`settings: there is no file ${file}`]);
  const lines = parseEnv(readFileSync(file, 'utf8'));
  const unknown = Object.keys(lines).filter((name) => !KNOWN.has(name));
  if (unknown.length > 0)
    throw new StageSettingsError(unknown.map((name) => `${name}: no setting of a stage (${file})`));
  return lines;
}
