import { startGateway } from '@prism-gateway/testing';

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

/**
 * Starts a gateway that a test will kill.
 *
 * @throws ProgramEndedError with what the gateway printed, when it does not start
 */
export async function startTarget(dataDir: string): Promise<Target> {
  const gateway = await startGateway({ dataDir });
  let life: Life = { url: gateway.url, isKilled: false };
  let next = Promise.resolve(life);
  return {
    current: () => next,
    async restart() {
      life.isKilled = true;
      next = gateway.restart().then(() => {
        life = { url: gateway.url, isKilled: false };
        return life;
      });
      // Whoever waits for it learns of a failure; that nobody does is none.
      next.catch(() => undefined);
      await next;
    },
    async end() {
      life.isKilled = true;
      await gateway.kill();
    },
  };
}
