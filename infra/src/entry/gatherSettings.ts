import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { GATEWAY_SETTINGS, type GivenSettings, STACK_SETTINGS } from '../settings/knownSettings.ts';
import { parseStageSettings, type StageSettings } from '../settings/stageSettings.ts';
import { StageSettingsError } from '../settings/stageSettingsError.ts';
import type { CommandLine } from './commandLine.ts';
import { places } from './places.ts';

/** The settings, and which of them stand in for what was not given. */
export interface GatheredSettings {
  readonly settings: StageSettings;
  readonly placeholders: readonly string[];
}

/** A template can be looked at without them; hosts that cannot exist (RFC 2606) keep it from working by accident. */
const PLACEHOLDERS: GivenSettings = {
  PRODUCTION_ORIGIN: 'https://app.invalid',
  IDENTITY_ISSUER: 'https://identity.invalid',
  IDENTITY_APP_ID: 'placeholder',
};

/** Where a stage's file of settings is, if there is one. */
type FileOfStage = (stage: string) => string;

function readGiven({ given, settingsFile }: CommandLine, fileOf: FileOfStage): GivenSettings {
  const file = settingsFile ?? fileOf(given.STAGE || 'dev');
  const isWanted = settingsFile !== undefined || existsSync(file);
  const fromFile = isWanted ? readSettingsFile(file) : {};
  if (fromFile.STAGE && given.STAGE && fromFile.STAGE !== given.STAGE) {
    throw new StageSettingsError([`STAGE: ${file} is for ${fromFile.STAGE}`]);
  }
  return { ...fromFile, ...given };
}

/** Faults that only a deployment has: nobody should deploy to a stage or a region by default. */
function deployFaults(given: GivenSettings): string[] {
  const faults: string[] = [];
  if (!given.STAGE) faults.push('STAGE: needed to deploy: --stage dev or --stage prod');
  if (!given.REGION) faults.push('REGION: needed to deploy: an AWS region, like --region eu-central-1');
  return faults;
}

function parseFaults(given: GivenSettings): readonly string[] {
  try {
    parseStageSettings(given);
    return [];
  } catch (error) {
    if (error instanceof StageSettingsError) return error.faults;
    throw error;
  }
}

/**
 * Gathers a stage's settings from its file and the command line. To synthesise, placeholders stand in for what is not given; to
 * deploy, everything must be.
 *
 * @param fileOf - names the file that is read if the command line names none
 * @throws StageSettingsError that names every fault
 */
export function gatherSettings(line: CommandLine, fileOf: FileOfStage = places.settingsFile): GatheredSettings {
  const given = readGiven(line, fileOf);
  if (line.action !== 'synth') {
    const missing = deployFaults(given);
    if (missing.length > 0) throw new StageSettingsError([...missing, ...parseFaults(given)]);
    return { settings: parseStageSettings(given), placeholders: [] };
  }
  const missing = Object.entries(PLACEHOLDERS).filter(
    ([name]) => !(name in given) && (name !== 'PRODUCTION_ORIGIN' || given.STAGE === 'prod'),
  );
  const settings = parseStageSettings({ ...Object.fromEntries(missing), ...given });
  return { settings, placeholders: missing.map(([name]) => name) };
}

const KNOWN = new Set<string>([...Object.keys(STACK_SETTINGS), ...GATEWAY_SETTINGS]);

/**
 * Reads a file of settings, `NAME=value` a line.
 *
 * @throws StageSettingsError if it is not there, or holds a name that is no setting (or a secret, which has no place in a file)
 */
function readSettingsFile(file: string): GivenSettings {
  if (!existsSync(file)) throw new StageSettingsError([`settings: there is no file ${file}`]);
  const lines = parseEnv(readFileSync(file, 'utf8'));
  const unknown = Object.keys(lines).filter((name) => !KNOWN.has(name));
  if (unknown.length > 0)
    throw new StageSettingsError(unknown.map((name) => `${name}: no setting of a stage (${file})`));
  return lines;
}
