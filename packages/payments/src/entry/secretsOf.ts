import { alertSecrets } from '@prism-gateway/alerts';
import type { Settings } from '../settings/settings.ts';

/**
 * Lists what must never be printed.
 *
 * @param settings - of any program
 * @returns keys, passwords, and URLs that may hold such
 */
export function secretsOf(settings: Settings): readonly (string | undefined)[] {
  return [
    settings.RELAYER_SECRET,
    // Its address is no secret.
    settings.FRONTEND_URL === undefined ? undefined : new URL(settings.FRONTEND_URL).password,
    settings.RELAYER_PRIVATE_KEY,
    settings.RELAYER_KEYSTORE_PASSWORD,
    settings.PAYOUTS_DEPLOYER_PRIVATE_KEY,
    settings.RPC_URL,
    settings.METRICS_PUSH_URL,
    ...alertSecrets(settings),
    ...settings.gasTargets.map(({ rpcUrl }) => rpcUrl),
  ];
}
