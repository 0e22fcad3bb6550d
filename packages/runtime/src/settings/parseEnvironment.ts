import type * as z from 'zod/mini';

/** The environment, or what stands in for it: texts by the setting's name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a program asks of its settings. */
export interface SettingRules<Schema extends z.ZodMiniType> {
  /** An object of fields, by the setting's name. */
  readonly schema: Schema;
  /** Names what settings lack together. It is asked even when a field cannot be parsed, so that all faults are named at once. */
  readonly findFaults?: (given: Environment) => readonly string[];
  /** Names what parsed values lack together. */
  readonly findValueFaults?: (values: z.output<Schema>) => readonly string[];
}

/** Names the place of a fault: `RELAYER_CHAINS[0].rpcUrl`. */
function describeIssue(issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const name = issue.path.map((key, index) => {
    if (typeof key === 'number') return `[${key}]`;
    return index === 0 ? String(key) : `.${String(key)}`;
  });
  return `${name.join('')}: ${issue.message}`;
}

/**
 * Parses all settings of a program, once, at its start. An empty text counts as unset.
 *
 * @param rules - the fields, and what must hold between them
 * @param environment - texts by name, such as `process.env`
 * @throws SettingsError `SETTINGS_INVALID`: it names every fault and repeats no value
 * @example
 * const schema = z.object({ PORT: z._default(wholeNumber(0, 65_535), 8787), RPC_URL: httpUrl() });
 * const { PORT, RPC_URL } = parseEnvironment({ schema }, process.env);
 */
export function parseEnvironment<Schema extends z.ZodMiniType>(
  rules: SettingRules<Schema>,
  environment: Environment,
): z.output<Schema> {
  const given: Environment = Object.fromEntries(
    Object.entries(environment).filter(([, text]) => text !== undefined && text !== ''),
  );
  const faults = rules.findFaults?.(given) ?? [];
  const result = rules.schema.safeParse(given);
  if (!result.success) throw new SettingsError([...result.error.issues.map(describeIssue), ...faults]);
  const all = [...faults, ...(rules.findValueFaults?.(result.data) ?? [])];
  if (all.length > 0) throw new SettingsError(all);
  return result.data;
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
