import type { Awaitable } from '../ports/awaitable.ts';

/** The place of one act that is admitted or waits to be. */
export interface Place {
  /** Runs the act as soon as there is room for it. What `findRoom` throws refuses it. */
  enter<T>(act: () => Promise<T>): Promise<T>;
  /** Gives the place up; to be called in any case, once. */
  leave(): void;
}

/**
 * Takes a place, and looks for room a first time: what `findRoom` throws then refuses it at once.
 *
 * @param name - acts under one name share its room
 * @param findRoom - how many of them may be under way now, at least 1
 */
export type Admit = (name: string, findRoom: () => Awaitable<number>) => Promise<Place>;

/** What is known of a name while anybody has a place under it. */
interface Gate {
  /** Those that have a place. */
  inside: number;
  underWay: number;
  /** Counts acts that have failed: each has changed the room. */
  failed: number;
  /** Wake those that wait, the one that came first first. */
  readonly waiting: (() => void)[];
}

/** The room, and how many acts had failed when it was looked for. */
interface Known {
  readonly room: number;
  readonly failed: number;
}

async function look(gate: Gate, findRoom: () => Awaitable<number>): Promise<Known> {
  const { failed } = gate;
  return { failed, room: await findRoom() };
}

/** Goes in, or waits until somebody has come out and looks again. */
async function goIn(gate: Gate, findRoom: () => Awaitable<number>, first: Known): Promise<void> {
  for (let known = first; ; known = await look(gate, findRoom)) {
    if (known.failed !== gate.failed) continue;
    if (gate.underWay < known.room) break;
    await new Promise<void>((resolve) => {
      gate.waiting.push(resolve);
    });
  }
  gate.underWay += 1;
}

/** Makes the admission. Names under which nobody has a place are forgotten. */
export function createAdmission(): Admit {
  const gates = new Map<string, Gate>();

  function gateOf(name: string): Gate {
    const gate = gates.get(name) ?? { inside: 0, underWay: 0, failed: 0, waiting: [] };
    gates.set(name, gate);
    gate.inside += 1;
    return gate;
  }

  function leave(name: string, gate: Gate): void {
    gate.inside -= 1;
    if (gate.inside === 0) gates.delete(name);
    gate.waiting.shift()?.();
  }

  return async function admit(name, findRoom) {
    const gate = gateOf(name);
    let known: Known;
    try {
      known = await look(gate, findRoom);
    } catch (error) {
      leave(name, gate);
      throw error;
    }
    return {
      async enter(act) {
        await goIn(gate, findRoom, known);
        try {
          return await act();
        } catch (error) {
          gate.failed += 1;
          throw error;
        } finally {
          gate.underWay -= 1;
        }
      },
      leave: () => leave(name, gate),
    };
  };
}
