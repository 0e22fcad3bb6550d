import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import type { PaymentsRig, RigKey } from '../../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../../scripts/demo/waitUntil.ts';
import type { ReferenceFrontend } from '../../src/referenceFrontend/startReferenceFrontend.ts';
import { type RunningInstance, runInstance } from './runInstance.ts';

/** An instance, and a frontend that knows of its payments only. */
export type Scene = Awaited<ReturnType<typeof startScene>>;

/**
 * Runs an instance with a frontend of its own, or the rig's.
 *
 * @returns the instance at work, and what tests ask of it
 */
export async function startScene(
  rig: PaymentsRig,
  options: {
    readonly key: RigKey;
    readonly overrides?: Readonly<Record<string, string>>;
    readonly frontend?: ReferenceFrontend;
  },
) {
  const frontend = options.frontend ?? (await rig.startFrontend());
  const settings = { ...rig.settingsFor(options.key, [], frontend), ...options.overrides };
  const instance = await runInstance(settings);
  const add = (amount: bigint) => rig.addPayment(amount, frontend);
  const txHashOf = (id: string) => frontend.store.list().find(({ paymentIntentId }) => paymentIntentId === id)?.txHash;
  const waitForAll = () =>
    waitUntil(() => frontend.store.list().every(({ txHash }) => txHash !== undefined), {
      timeoutMs: TIMEOUT_MS,
      what: 'payments are not completed',
    });
  const waitForState = (id: string, state: string) =>
    waitUntil(() => instance.relayer.journal.get(id)?.state === state, {
      timeoutMs: TIMEOUT_MS,
      what: `${id} is not ${state}`,
    });
  return { frontend, settings, instance, add, txHashOf, waitForAll, waitForState };
}

/** Codes of the alerts that were raised, oldest first. */
export function codesOf(instance: RunningInstance): readonly string[] {
  return instance.alerts.map(({ code }) => code);
}

/** How many buys of an address are on the chain. */
export async function countBuysOf(rig: PaymentsRig, key: RigKey): Promise<number> {
  const logs = await rig.client.getLogs({ address: rig.deployment.exchange, fromBlock: 0n });
  return logs.filter(({ topics }) => topics[1]?.endsWith(key.address.slice(2).toLowerCase())).length;
}
