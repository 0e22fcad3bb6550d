import { type RunningGateway, startGateway } from '@prism-gateway/testing';

/** One life of a gateway, from its start to its kill. */
export interface Life {
  readonly url: string;
  /** Set before the signal is sent: from then on a missing answer is excused. */
  isKilled: boolean;
}

/** A gateway that is killed and started again on the same data. */
export interface Target {
  /** @returns the life that answers now, or the next one as soon as it does */
  current(): Promise<Life>;
  /** Kills it by SIGKILL and starts it again. */
  restart(): Promise<void>;
  /** Kills it for good; whoever waits for its next life is told so. */
  end(): Promise<void>;
}

async function start(dataDir: string): Promise<{ readonly gateway: RunningGateway; readonly life: Life }> {
  const gateway = await startGateway({ dataDir });
  return { gateway, life: { url: gateway.url, isKilled: false } };
}

/**
 * Starts a gateway that a test will kill.
 *
 * @throws Error with what the gateway printed, when it does not start
 */
export async function startTarget(dataDir: string): Promise<Target> {
  let running = await start(dataDir);
  let next: Promise<Life> = Promise.resolve(running.life);
  async function kill(): Promise<void> {
    running.life.isKilled = true;
    await running.gateway.kill();
  }
  return {
    current: () => next,
    async restart() {
      const born = Promise.withResolvers<Life>();
      // Whoever waits for it is told of a failure; that nobody does is none.
      born.promise.catch(() => undefined);
      next = born.promise;
      try {
        await kill();
        running = await start(dataDir);
        born.resolve(running.life);
      } catch (error) {
        born.reject(error);
        throw error;
      }
    },
    end: kill,
  };
}
