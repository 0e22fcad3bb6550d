/** How long a window is in which a process is measured, in milliseconds. */
const WINDOW_MS = 100;
/** A process is busy if its event loop was at work for more than this share of the last window. */
const BUSY_SHARE = 0.5;
/** It is busy too if its commits carried this many moves on average: several callers waited for each. */
const BUSY_MOVES_A_COMMIT = 2;
/**
 * Moves that a busy process commits between two deliveries. A delivery costs the machine as much as one and a half to two posted
 * requests (`npm run bench -- webhooks`): those who post lose less than a tenth.
 */
const MOVES_A_DELIVERY = 25;
/**
 * So long a rest is at most, in milliseconds, and for each delivery: what is delivered comes soon, also if a process is busy with reads
 * alone. One event at a time is not held up as a lot of 8 is, and costs callers no more.
 */
const [LONGEST_REST_MS, DELIVERY_REST_MS] = [250, 31.25];
/** Looks at the queue are at least so far apart, in milliseconds: commits of a busy process come faster. */
const LOOK_MS = 4;

/** Makes deliveries yield to calls. */
export interface Pace {
  /** Notes moves that this process has committed at once. */
  recordMoves(moves: number): void;
  /** Notes that the queue is looked at. */
  recordLook(): void;
  /** Notes that deliveries begin. */
  recordDeliveries(count: number): void;
  /** How long to wait before the next look, in milliseconds; 0 to look at once. */
  restMs(): number;
}

/** How busy a process is. */
export interface PaceMeters {
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
  /** The share of the time since the last call, of 1, the event loop was at work. */
  readonly utilization: () => number;
}

/** Reads the meters of this process. */
export function createPaceMeters(): PaceMeters {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    utilization() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  };
}

/** Measures what a process does for its callers, and has deliveries rest in proportion while it is busy. */
export function createPace({ now, utilization }: PaceMeters): Pace {
  let [moves, commits, movesAMs, isBusy] = [0, 0, 0, false];
  let [measuredAt, lookedAt, deliveries] = [now(), Number.NEGATIVE_INFINITY, 0];

  function measure(): void {
    const elapsedMs = now() - measuredAt;
    if (elapsedMs < WINDOW_MS) return;
    isBusy = utilization() > BUSY_SHARE || moves > commits * BUSY_MOVES_A_COMMIT;
    movesAMs = moves / elapsedMs;
    [moves, commits, measuredAt] = [0, 0, now()];
  }

  function wantedRestMs(): number {
    if (!isBusy || deliveries === 0) return LOOK_MS;
    const longestMs = Math.min(LONGEST_REST_MS, deliveries * DELIVERY_REST_MS);
    return Math.min(longestMs, Math.max(LOOK_MS, (deliveries * MOVES_A_DELIVERY) / movesAMs));
  }

  return {
    recordMoves(more) {
      moves += more;
      if (more > 0) commits++;
    },
    recordLook() {
      [lookedAt, deliveries] = [now(), 0];
    },
    recordDeliveries(count) {
      deliveries = count;
    },
    restMs() {
      measure();
      return Math.max(0, Math.ceil(lookedAt + wantedRestMs() - now()));
    },
  };
}
