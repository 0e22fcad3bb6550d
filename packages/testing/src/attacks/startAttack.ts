import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { AttackState } from './attack.ts';
import type { AttackOrder } from './attackWorker.ts';

/** An attack on a thread of its own. */
export interface StartedAttack {
  state(): Promise<AttackState>;
  stop(): Promise<void>;
}

/**
 * Starts an attack on a thread of its own, so that who measures beside it is not held up by it.
 *
 * @param order - which attack, on what, from where
 * @returns once all its connections were tried
 */
export async function startAttack(order: AttackOrder): Promise<StartedAttack> {
  const worker = new Worker(new URL('./attackWorker.ts', import.meta.url), { workerData: order });
  const exited = once(worker, 'exit');
  await once(worker, 'message');
  return {
    async state() {
      const ready = once(worker, 'message');
      worker.postMessage('state');
      const [state] = await ready;
      // The thread answers a question for its state with it.
      return state as AttackState;
    },
    async stop() {
      worker.postMessage('stop');
      await exited;
    },
  };
}
