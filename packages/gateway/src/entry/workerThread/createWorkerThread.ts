import { MessageChannel, Worker } from 'node:worker_threads';
import type { ServiceCaller, WorkerThread } from '../../ports/workerThread.ts';
import type { ServiceCall } from './workerMain.ts';

/** Most that the thread may use for short-lived objects, in MiB: its messages are small and soon gone. */
const YOUNG_GENERATION_MB = 4;

export interface OwnedWorkerThread extends WorkerThread {
  /** Ends the thread; what still runs there is given up. */
  close(): Promise<void>;
}

/**
 * Makes the worker thread. It starts with the first connection; after its death, with the next one.
 *
 * @returns the thread, which does not keep the process alive; connections do, unless `unref` is called
 */
export function createWorkerThread(): OwnedWorkerThread {
  let running: Worker | undefined;

  function start(): Worker {
    const worker = new Worker(new URL('./workerMain.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    // Every service listens to both.
    worker.setMaxListeners(0);
    const forget = () => {
      if (running === worker) running = undefined;
    };
    worker.once('error', forget);
    worker.once('exit', forget);
    worker.unref();
    return worker;
  }

  return {
    connect<Reply>(service: string, data: unknown, caller: ServiceCaller<Reply>) {
      running ??= start();
      const worker = running;
      const { port1: own, port2: port } = new MessageChannel();
      const closed = new Promise<void>((resolve) => {
        own.once('close', resolve);
        worker.once('exit', () => resolve());
      });
      let isGone = false;
      const leave = (cause: Error) => {
        if (!isGone) caller.onGone(cause);
        isGone = true;
      };
      worker.once('error', (error) => leave(error as Error));
      worker.once('exit', (code) => leave(new Error(`the worker thread has ended with ${code}`)));
      own.on('message', caller.onReply);
      worker.postMessage({ service, data, port } satisfies ServiceCall, [port]);
      return {
        send: own.postMessage.bind(own),
        unref: () => own.unref(),
        closed,
      };
    },
    async close() {
      await running?.terminate();
    },
  };
}
