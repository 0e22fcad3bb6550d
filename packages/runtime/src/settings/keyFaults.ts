import type { Environment } from './parseEnvironment.ts';

/**
 * Names what is wrong with how a daemon is given its key: `{prefix}PRIVATE_KEY`, or `{prefix}KEYSTORE` and
 * `{prefix}KEYSTORE_PASSWORD`, and never both.
 *
 * @param given - the texts of the settings that are set
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
