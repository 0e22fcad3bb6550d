import { type Environment, SettingsError } from '@prism-gateway/node/settings';

/** Settings that may be given as the ARN of a secret, in a variable of the same name with `_ARN` added. */
export const SECRET_SETTINGS = ['ADMIN_API_KEY', 'IDENTITY_APP_SECRET', 'CURSOR_SECRET', 'ORIGIN_SECRET'] as const;

/**
 * Puts secrets in the place of the references to them. They are read once, when an instance starts.
 *
 * @param environment - environment variables
 * @param readSecret - reads the text of the secret with an ARN
 * @returns the environment with the secrets in it
 * @throws SettingsError if a setting is given both ways, or a secret is empty; SecretUnreadableError
 */
export async function resolveSecrets(
  environment: Environment,
  readSecret: (arn: string) => Promise<string>,
): Promise<Environment> {
  const references = SECRET_SETTINGS.flatMap((name) => {
    const arn = environment[`${name}_ARN`];
    return arn ? [{ name, arn }] : [];
  });
  const doubled = references.filter(({ name }) => environment[name]);
  if (doubled.length > 0) {
    throw new SettingsError(doubled.map(({ name }) => `${name}: expected either itself or ${name}_ARN, not both`));
  }
  const secrets = await Promise.all(
    // Who keeps a file as a secret often keeps its last newline too.
    references.map(async ({ name, arn }) => [name, (await readSecret(arn)).replace(/\r?\n$/, '')] as const),
  );
  // Else the setting would count as not given, and its default be taken.
  const empty = secrets.filter(([, secret]) => secret === '');
  if (empty.length > 0)
    throw new SettingsError(empty.map(([name]) => `${name}_ARN: expected a secret that is not empty`));
  return { ...environment, ...Object.fromEntries(secrets) };
}
