/** The thread of one attack, apart from who measures: `openInThread` starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RunningAttack } from './attack.ts';
import { type AttackName, attacks } from './attacks.ts';

export interface AttackOrder {
  readonly name: AttackName;
  readonly url: string;
  readonly connections: number;
  readonly addresses: readonly string[];
}

// Its starter hands over an AttackOrder.
const { name, url, ...rest } = workerData as AttackOrder;
const running: RunningAttack = await attacks[name].start({ url: new URL(url), ...rest });
parentPort?.postMessage(running.state());
parentPort?.on('message', async (asked: 'state' | 'stop') => {
  if (asked === 'stop') {
    await running.stop();
    parentPort?.close();
  } else parentPort?.postMessage(running.state());
});
