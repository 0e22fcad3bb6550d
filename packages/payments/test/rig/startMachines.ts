import { join } from 'node:path';
import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import type { Address } from 'viem';
import type { PaymentsRig, RigKey } from '../../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../../scripts/demo/waitUntil.ts';
import { KEY_FACTS } from '../../src/chain/createKeyWatch.ts';
import { OPEN_STATES } from '../../src/journal/paymentState.ts';
import type { ReferenceFrontend } from '../../src/referenceFrontend/startReferenceFrontend.ts';
import { playOperator } from './playOperator.ts';
import { type RunningInstance, runInstance } from './runInstance.ts';

type Settings = Readonly<Record<string, string>>;

/** Machines of one operator, with one frontend, before a node that may have faults. */
export interface Machines {
  readonly frontend: ReferenceFrontend;
  /** Settings of a machine's instance on a sound node. */
  settingsOf(key: RigKey, folder: string, more?: Settings): Record<string, string>;
  /** Starts an instance before the faulty node. */
  start(key: RigKey, folder: string, more?: Settings): Promise<void>;
  /** Runs one on a sound node until it has searched the chain, with nothing listed, and stops it. */
  runIdle(key: RigKey, folder: string, more?: Settings): Promise<void>;
  /** Sets the faults of calls to the node from now on. */
  setNode(plan: RpcFaultPlan): void;
  /** Does what the documentation has a person do, until the frontend knows all, and nothing is under way. */
  attendUntilPaid(walletAddress: Address): Promise<void>;
  /** The journals' contents, and last words. */
  describe(): string;
  close(): Promise<void>;
}

/** Waits until it is settled what an instance's key has done. */
export async function waitForFinal({ relayer }: RunningInstance): Promise<void> {
  const what = 'it is not settled what the key has done';
  const isFinal = () => relayer.journal.fact(KEY_FACTS.resolved) !== undefined;
  await waitUntil(isFinal, { timeoutMs: TIMEOUT_MS, what });
}

function describeInstance({ relayer, log }: RunningInstance): unknown {
  return {
    payments: relayer.journal.list().map(({ state, reason }) => ({ state, reason })),
    log: log.lines.filter(({ level }) => level !== 'debug').slice(-8),
  };
}

/** Makes an operator's machines; none runs yet. */
export async function startMachines(rig: PaymentsRig, common: Settings): Promise<Machines> {
  const frontend = await rig.startFrontend();
  const line = await startRpcFaultProxy({ target: rig.rpcUrl });
  const alive: { readonly instance: RunningInstance; readonly key: RigKey; readonly folder: string }[] = [];

  const settingsOf = (key: RigKey, folder: string, more: Settings = {}) => ({
    ...rig.settingsFor(key, [], frontend),
    DATA_DIR: folder,
    LOCK_DIR: join(folder, 'locks'),
    ...common,
    ...more,
  });

  async function attendAll(walletAddress: Address): Promise<void> {
    for (const one of [...alive]) {
      const hasTwin = alive.some((twin) => twin !== one && twin.key === one.key);
      const { journal } = one.instance.relayer;
      if ((await playOperator(rig, { ...one, journal, hasTwin, walletAddress })) === 'leave it') continue;
      await one.instance.stop();
      alive.splice(alive.indexOf(one), 1);
    }
  }

  return {
    frontend,
    settingsOf,
    async start(key, folder, more) {
      const instance = await runInstance({ ...settingsOf(key, folder, more), RPC_URL: line.url });
      alive.push({ instance, key, folder });
    },
    async runIdle(key, folder, more) {
      const nobody = await rig.startFrontend();
      const instance = await runInstance({ ...settingsOf(key, folder, more), FRONTEND_URL: nobody.url });
      await waitForFinal(instance);
      await instance.stop();
      await nobody.close();
    },
    setNode: line.setPlan,
    async attendUntilPaid(walletAddress) {
      const isReported = () => frontend.store.list().every(({ txHash }) => txHash !== undefined);
      const isAtRest = () => alive.every(({ instance }) => instance.relayer.journal.list(OPEN_STATES).length === 0);
      const isDone = async () => {
        if (isReported() && isAtRest()) return true;
        await attendAll(walletAddress);
        return false;
      };
      await waitUntil(isDone, { timeoutMs: 3 * TIMEOUT_MS, what: 'not paid, or not at rest' });
    },
    describe() {
      const states = alive.map(({ instance }) => describeInstance(instance));
      return JSON.stringify(states, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).slice(0, 8000);
    },
    async close() {
      await Promise.all(alive.map(({ instance }) => instance.stop()));
      await line.stop();
      await frontend.close();
    },
  };
}
