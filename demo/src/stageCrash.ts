import type { Program } from '@prism-gateway/testing/world';
import type { Tally } from './watchRequests.ts';

interface CrashOptions {
  /** The relayer that is killed: address, and process. */
  readonly address: string;
  readonly relayer: Program;
  readonly total: number;
  /** Reports what happens. */
  readonly onEvent: (line: string) => void;
}

/** A crash on its way. */
export interface Crash {
  /** Looks whether it is time for the next act. */
  advance(tally: Tally): Promise<void>;
  /** Waits until it is up again; starts it if that has not come yet. @throws what starting it threw */
  finish(): Promise<void>;
  /** Requests that the relayer held when it was killed, as the gateway says. */
  readonly held: readonly string[];
  /** Whether it is down just now. */
  readonly isDown: boolean;
  /** Whether it was killed and started again. */
  readonly isOver: boolean;
}

/**
 * From this part of all requests on it is killed, as soon as it is seen to hold one and the other relayer has carried one out: of few users it
 * may hold all that are in their turn, and then the other one waits for it. At the later part in any case.
 */
const FROM = 0.4;
const AT_LATEST = 0.8;
/** How long it stays down, in milliseconds. */
const DOWN_MS = 2000;

/**
 * Stages the crash of a relayer.
 *
 *     running --midway, with claims in its hands: SIGKILL--> down --2 s--> starting --> restarted
 *
 * @param options - see each field
 */
export function stageCrash({ relayer, total, onEvent, ...options }: CrashOptions): Crash {
  const address = options.address.toLowerCase();
  let state: 'running' | 'down' | 'starting' | 'restarted' = 'running';
  let killedAt = 0;
  let held: readonly string[] = [];
  let starting: Promise<unknown> | undefined;

  async function kill(tally: Tally): Promise<void> {
    await relayer.kill();
    held = tally.held.get(address) ?? [];
    [state, killedAt] = ['down', performance.now()];
    onEvent(`relayer A killed with SIGKILL; requests in its hands just before: ${held.length}`);
  }

  function startAgain(): void {
    state = 'starting';
    const started = relayer.restart().then(() => {
      state = 'restarted';
      onEvent('relayer A started again on its own journal');
    });
    // Not awaited: the others go on meanwhile, and are to be watched. What it threw, `finish` throws.
    starting = started.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  return {
    async advance(tally) {
      const part = tally.ended / total;
      const hasOther = [...tally.reported.keys()].some((reporter) => reporter !== address);
      const isTime = part >= AT_LATEST || (part >= FROM && hasOther && tally.held.has(address));
      if (state === 'running' && isTime) await kill(tally);
      else if (state === 'down' && performance.now() - killedAt >= DOWN_MS) startAgain();
    },
    async finish() {
      if (state === 'down') startAgain();
      const error = await starting;
      if (error !== undefined) throw error;
    },
    get held() {
      return held;
    },
    get isDown() {
      return state === 'down' || state === 'starting';
    },
    get isOver() {
      return state === 'restarted';
    },
  };
}
