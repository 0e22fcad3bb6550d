import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { type Settings, type SettingValues, secretNames } from './setting.ts';

/** The environment, or what stands in for it: texts by the setting's name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A program's rules for its settings. */
export interface SettingRules<All extends Settings> {
  readonly settings: All;
  /** Names what settings lack together. It is asked even when a field cannot be parsed, so that all faults are named at once. */
  readonly findFaults?: (given: Environment) => readonly string[];
  /** Names what parsed values lack together. */
  readonly findValueFaults?: (values: SettingValues<All>) => readonly string[];
}

/** Names the place of a fault: `RELAYER_CHAINS[0].rpcUrl`. */
function describeIssue(issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const name = issue.path.map((key, index) => {
    if (typeof key === 'number') return `[${key}]`;
    return index === 0 ? String(key) : `.${String(key)}`;
  });
  return `${name.join('')}: ${issue.message}`;
}

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new SettingsError([`${name}_FILE: expected a file that can be read`]);
  }
}

/** Takes secrets out of files: `RELAYER_SECRET_FILE` names one that holds `RELAYER_SECRET`, as container platforms mount them. */
function readSecretFiles(environment: Environment, secrets: readonly string[]): Environment {
  const named = secrets.filter((name) => (environment[`${name}_FILE`] ?? '') !== '');
  const twice = named.filter((name) => (environment[name] ?? '') !== '');
  if (twice.length > 0)
    throw new SettingsError(twice.map((name) => `${name}_FILE: expected either it or ${name}, not both`));
  const read = named.map((name) => [name, readSecret(name, environment[`${name}_FILE`] ?? '')] as const);
  return { ...environment, ...Object.fromEntries(read) };
}

const withoutEmpty = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, text]) => text !== undefined && text !== ''));

/**
 * Parses all settings of a program, once, at its start. An empty text counts as unset. For a secret, the file that `NAME_FILE` names is read.
 *
 * @param rules - the settings, and what must hold between them
 * @param environment - texts by name, such as `process.env`
 * @throws SettingsError `SETTINGS_INVALID`: it names every fault and repeats no value
 * @example
 * const settings = { PORT: setting(wholeNumber(0, 65_535), 'where it listens', { initial: '8787' }) };
 * const { PORT } = parseEnvironment({ settings }, process.env);
 */
export function parseEnvironment<All extends Settings>(
  rules: SettingRules<All>,
  environment: Environment,
): SettingValues<All> {
  const given = readSecretFiles(withoutEmpty(environment), secretNames(rules.settings));
  const faults = rules.findFaults?.(given) ?? [];
  const fields = Object.fromEntries(Object.entries(rules.settings).map(([name, { field }]) => [name, field]));
  const result = z.object(fields).safeParse(given);
  if (!result.success) throw new SettingsError([...result.error.issues.map(describeIssue), ...faults]);
  // Made of these very fields.
  const values = result.data as SettingValues<All>;
  const all = [...faults, ...(rules.findValueFaults?.(values) ?? [])];
  if (all.length > 0) throw new SettingsError(all);
  return values;
}

/**
 * Names what is wrong with how a daemon is given its key: `{prefix}PRIVATE_KEY`, or `{prefix}KEYSTORE` and
 * `{prefix}KEYSTORE_PASSWORD`, and never both.
 *
 * @param prefix - like `RELAYER_`
 * @returns at most one fault
 */
export function keyFaults(given: Environment, prefix: string): readonly string[] {
  const [key, keystore, password] = [`${prefix}PRIVATE_KEY`, `${prefix}KEYSTORE`, `${prefix}KEYSTORE_PASSWORD`];
  const hasKey = given[key] !== undefined;
  const hasKeystore = given[keystore] !== undefined;
  if (hasKey && hasKeystore) return [`${keystore}: expected either it or ${key}, not both`];
  if (!hasKey && !hasKeystore) return [`${key}: required, or ${keystore} and ${password}`];
  if (hasKeystore && given[password] === undefined) return [`${password}: required with ${keystore}`];
  return [];
}

/** Settings that cannot be used. It names every fault at once, and never a value: values may be secrets. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'SETTINGS_INVALID';
  /** One sentence each: the setting's name, and what was expected of it. */
  readonly faults: readonly string[];

  /** @param faults - at least one, like `PORT: expected a whole number from 0 to 65535`; repeated ones are named once */
  constructor(faults: readonly string[]) {
    const named = [...new Set(faults)];
    super(named.length === 1 ? `Bad setting: ${named[0]}` : `Bad settings:\n  ${named.join('\n  ')}`);
    this.faults = named;
  }
}
