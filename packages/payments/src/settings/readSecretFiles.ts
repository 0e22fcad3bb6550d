import { readFileSync } from 'node:fs';
import { type Environment, SettingsError } from '@prism-gateway/runtime/settings';

/** Settings that are secrets, or hold one. */
export const SECRETS = [
  'RELAYER_SECRET',
  'RELAYER_PRIVATE_KEY',
  'RELAYER_KEYSTORE_PASSWORD',
  'PAYOUTS_DEPLOYER_PRIVATE_KEY',
  'RPC_URL',
  'GAS_MONITOR_TARGETS',
  'SMTP_URL',
  'ALERT_CHAT_WEBHOOK_URL',
  'ALERT_WEBHOOK_URL',
  'ALERT_WEBHOOK_SECRET',
  'METRICS_PUSH_URL',
] as const;

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw new SettingsError([`${name}_FILE: expected a file that can be read`]);
  }
}

/**
 * Takes secrets out of files: `RELAYER_SECRET_FILE` names one that holds `RELAYER_SECRET`, as container platforms mount them.
 *
 * @param environment - texts by name
 * @returns the environment, with what the files say
 * @throws SettingsError where a file cannot be read, or a secret is given twice
 */
export function readSecretFiles(environment: Environment): Environment {
  const named = SECRETS.filter((name) => (environment[`${name}_FILE`] ?? '') !== '');
  const twice = named.filter((name) => (environment[name] ?? '') !== '');
  if (twice.length > 0)
    throw new SettingsError(twice.map((name) => `${name}_FILE: expected either it or ${name}, not both`));
  const read = named.map((name) => [name, readSecret(name, environment[`${name}_FILE`] ?? '')] as const);
  return { ...environment, ...Object.fromEntries(read) };
}
