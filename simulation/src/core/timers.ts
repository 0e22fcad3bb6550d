import { currentProcess, runAs, type SimProcess, whenRunning } from './processes.ts';

type Callback = (...args: unknown[]) => unknown;

/** Longest delay that Node takes; for more, and for less than one, it waits one millisecond. */
const MAX_DELAY_MS = 2 ** 31 - 1;
const toDelay = (ms: number | undefined) => {
  const delay = Math.trunc(Number(ms));
  return delay >= 1 && delay <= MAX_DELAY_MS ? delay : 1;
};

interface TimerParts {
  readonly delayMs: number;
  readonly callback: () => unknown;
  /** Whose it is: it fires as long as that lives. */
  readonly owner: SimProcess | undefined;
  /** Fires again and again. */
  readonly isRepeated?: boolean;
}

/** The order of one that does not fire. */
const STOPPED = -1;

/** A timer as Node's functions return it. */
class Timer {
  /** Of timers at one time, the first that was started is the first to fire. */
  order = STOPPED;
  readonly #queue: TimerQueue;
  readonly #parts: TimerParts;
  #isRef = true;

  constructor(queue: TimerQueue, parts: TimerParts) {
    this.#queue = queue;
    this.#parts = parts;
  }

  fire(): void {
    const { callback, owner, isRepeated } = this.#parts;
    if (owner?.paused !== undefined) {
      const { order } = this;
      whenRunning(owner, () => void (this.order === order && this.fire()));
      return;
    }
    this.order = STOPPED;
    if (owner?.isAlive === false) return;
    if (isRepeated) this.refresh();
    if (owner === undefined) callback();
    else runAs(owner, callback);
  }
  ref(): this {
    this.#isRef = true;
    return this;
  }
  unref(): this {
    this.#isRef = false;
    return this;
  }
  hasRef(): boolean {
    return this.#isRef;
  }
  refresh(): this {
    this.order = this.#queue.place(this, this.#parts.delayMs);
    return this;
  }
  close(): this {
    this.order = STOPPED;
    return this;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** A time at which a timer fires, unless it has been stopped or set anew since. */
interface Place {
  readonly atMs: number;
  readonly order: number;
  readonly timer: Timer;
}

const isBefore = (one: Place, other: Place) =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/** The timers of the world: a heap by time, and what waits for nothing but its turn. */
export class TimerQueue {
  nowMs: number;
  #order = 0;
  readonly #heap: Place[] = [];
  #immediates: Timer[] = [];
  #nextImmediate = 0;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  /** @returns the timer's order among those of its time */
  place(timer: Timer, delayMs: number): number {
    const order = this.#order++;
    this.#push({ atMs: this.nowMs + delayMs, order, timer });
    return order;
  }

  /** Fires the next timer, at its time. @returns false if there is none */
  fireNext(): boolean {
    while (this.#nextImmediate < this.#immediates.length) {
      const immediate = this.#immediates[this.#nextImmediate++];
      if (immediate?.order === STOPPED) continue;
      immediate?.fire();
      return true;
    }
    this.#immediates = [];
    this.#nextImmediate = 0;
    for (let place = this.#pop(); place !== undefined; place = this.#pop()) {
      const { timer, atMs, order } = place;
      if (timer.order !== order) continue;
      this.nowMs = atMs;
      timer.fire();
      return true;
    }
    return false;
  }

  start(parts: TimerParts): Timer {
    return new Timer(this, parts).refresh();
  }

  immediately(callback: () => unknown): Timer {
    const timer = new Timer(this, { callback, delayMs: 0, owner: currentProcess() });
    timer.order = this.#order++;
    this.#immediates.push(timer);
    return timer;
  }

  #push(place: Place): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      // Every place above has one.
      const parent = heap[parentAt] as Place;
      if (!isBefore(place, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = place;
  }

  #pop(): Place | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Place)) child++;
      const least = heap[child] as Place;
      if (!isBefore(least, last)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const bind = (callback: Callback, args: readonly unknown[]) =>
  args.length === 0 ? (callback as () => unknown) : () => callback(...args);
const stop = (timer: unknown) => void (timer instanceof Timer && timer.close());

/** Puts timers, `Date` and `performance` of virtual time in place of Node's; `Date` shows the clock of the machine whose code asks. @returns puts Node's back */
export function installTimers(queue: TimerQueue): () => void {
  const startMs = queue.nowMs;
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
  const MachineDate = globalThis.Date;
  const readClock = () => queue.nowMs + (currentProcess()?.clock.offMs ?? 0);
  const { now } = performance;
  class VirtualDate extends MachineDate {
    constructor(...args: readonly unknown[]) {
      // The machine's own function checks its arguments.
      super(...((args.length === 0 ? [readClock()] : args) as [number]));
    }
    static override now = readClock;
  }
  Object.assign(globalThis, {
    setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
      queue.start({ callback: bind(callback, args), delayMs: toDelay(ms), owner: currentProcess() }),
    setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
      queue.start({ callback: bind(callback, args), delayMs: toDelay(ms), owner: currentProcess(), isRepeated: true }),
    setImmediate: (callback: Callback, ...args: unknown[]) => queue.immediately(bind(callback, args)),
    ...{ clearTimeout: stop, clearInterval: stop, clearImmediate: stop, Date: VirtualDate },
  });
  Object.assign(performance, { now: () => queue.nowMs - startMs });
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate });
    Object.assign(globalThis, { Date: MachineDate });
    Object.assign(performance, { now });
  };
}
