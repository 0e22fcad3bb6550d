import type { Awaitable } from '../ports/awaitable.ts';

/**
 * Runs an act as soon as there is room for it.
 *
 * @param name - acts under one name share its room
 * @param findRoom - how many of them may be under way now, at least 1; what it throws refuses the act
 */
export type Admit = <T>(name: string, findRoom: () => Awaitable<number>, act: () => Promise<T>) => Promise<T>;

/** What is known of a name while anybody is there under it. */
interface Gate {
  /** Those under way and those that wait. */
  inside: number;
  underWay: number;
  /** Counts those that have ended: each may have changed the room. */
  ended: number;
  /** Wake those that wait, the one that came first first. */
  readonly waiting: (() => void)[];
}

/** Goes in, or waits until somebody has come out and looks again. */
async function enter(gate: Gate, findRoom: () => Awaitable<number>): Promise<void> {
  for (;;) {
    const { ended } = gate;
    const found = findRoom();
    const room = found instanceof Promise ? await found : found;
    if (gate.ended !== ended) continue;
    if (gate.underWay < room) {
      gate.underWay += 1;
      return;
    }
    await new Promise<void>((resolve) => {
      gate.waiting.push(resolve);
    });
  }
}

async function run<T>(gate: Gate, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } finally {
    gate.underWay -= 1;
    gate.ended += 1;
  }
}

/** Makes the admission. Names that nobody is under are forgotten. */
export function createAdmission(): Admit {
  const gates = new Map<string, Gate>();
  return async function admit(name, findRoom, act) {
    const gate = gates.get(name) ?? { inside: 0, underWay: 0, ended: 0, waiting: [] };
    gates.set(name, gate);
    gate.inside += 1;
    try {
      await enter(gate, findRoom);
      return await run(gate, act);
    } finally {
      gate.inside -= 1;
      if (gate.inside === 0) gates.delete(name);
      gate.waiting.shift()?.();
    }
  };
}
