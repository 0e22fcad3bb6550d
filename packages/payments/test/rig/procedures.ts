import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RigKey } from '../../scripts/demo/startPaymentsRig.ts';

/** An instance that has died, and what an operator has in hand. */
export interface Accident {
  readonly key: RigKey;
  /** The contents of its disk. */
  readonly disk: string;
  /** A backup of before its payment. */
  readonly backup: string;
  /** Another Exchange, which sells at the same rate. */
  readonly otherExchange: string;
  /** A contract `Payouts` that lets every key pay. */
  payouts(): Promise<string>;
  /** Another key with ether and stablecoins. */
  otherKey(): Promise<RigKey>;
  /** A folder of a new machine; empty. */
  newFolder(): string;
  /** Starts an instance. */
  start(key: RigKey, folder: string, settings?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Runs an instance until it has searched the chain, with nothing listed, and stops it. */
  runIdle(key: RigKey, folder: string, settings?: Readonly<Record<string, string>>): Promise<void>;
}

/** An operator's next act, right or mistaken. */
export interface Procedure {
  (accident: Accident): Promise<unknown>;
  /** Whether several instances are at work, so that all that pays does so through the contract `Payouts`. */
  readonly needsContract?: true;
}

/** Of several instances. */
const ofSeveral = (act: (accident: Accident) => Promise<unknown>): Procedure =>
  Object.assign(act, { needsContract: true } as const);

function removeFiles(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name), { recursive: true });
}

const named = ({ address }: RigKey) => ({ RELAYER_ADDRESSES: address });

/** Each procedure of docs/payments.md, and each mistake. */
export const PROCEDURES: Readonly<Record<string, Procedure>> = {
  'start it again': ({ start, key, disk }) => start(key, disk),
  'lose the disk': ({ start, key, newFolder }) => start(key, newFolder()),
  'lose the journal of payments alone': ({ start, key, disk }) => {
    removeFiles(disk, 'payments.db');
    return start(key, disk);
  },
  'lose the journal of the sender alone': ({ start, key, disk }) => {
    removeFiles(disk, 'sender.db');
    return start(key, disk);
  },
  'restore a backup': ({ start, key, backup }) => start(key, backup),
  'move the disk': ({ start, key, disk, newFolder }) => {
    const folder = newFolder();
    cpSync(disk, folder, { recursive: true });
    return start(key, folder);
  },
  'deploy a new version beside the old one': async ({ start, key, disk, newFolder }) => {
    await start(key, disk);
    await start(key, newFolder());
  },
  'add an instance': ofSeveral(async ({ start, key, disk, newFolder, otherKey }) => {
    const other = await otherKey();
    await start(key, disk, named(other));
    await start(other, newFolder(), named(key));
  }),
  'remove the instance': ofSeveral(async ({ start, runIdle, key, newFolder, otherKey }) => {
    const [other, folder] = [await otherKey(), newFolder()];
    await runIdle(other, folder, named(key));
    await start(other, folder, named(key));
  }),
  're-key the instance': ofSeveral(async ({ start, key, newFolder, otherKey }) => {
    await start(await otherKey(), newFolder(), named(key));
  }),
  'name a peer that was not named before': ofSeveral(async ({ start, runIdle, key, newFolder, otherKey }) => {
    const [other, folder] = [await otherKey(), newFolder()];
    await runIdle(other, folder);
    await start(other, folder, named(key));
  }),
  'change the Exchange': ({ start, key, disk, otherExchange }) => start(key, disk, { EXCHANGE_ADDRESS: otherExchange }),
  'pay through Payouts from now on': async ({ start, key, disk, payouts }) =>
    start(key, disk, { PAYOUTS_ADDRESS: await payouts() }),
};
