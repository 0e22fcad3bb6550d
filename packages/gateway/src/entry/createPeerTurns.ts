/** Most that is rendered before it is written, in characters: 35 records of the largest size. */
const MOST_RENDERED = 8_388_608;
/** How long calls are answered in one turn of the event loop before others have theirs, in milliseconds. */
const MOST_TURN_MS = 10;

/** Serves calls as they come, as long as a turn of the event loop has room for them; then each peer has one after the other. */
export interface PeerTurns {
  serve(peer: string, act: () => void): void;
  /** Notes an answer that is to be written. @returns notes that it is */
  rendered(characters: number): () => void;
}

/**
 * Makes the turns: what thousands of connections ask for at one moment is rendered and written in as many turns of the event loop as it
 * takes, so that nobody else waits for all of it, and it is never in memory together.
 *
 * @param now - milliseconds of a clock that only goes on
 * @see docs/specification.md LIMIT-14, LIMIT-20
 */
export function createPeerTurns(now: () => number): PeerTurns {
  /** Peers that wait, in their order. */
  const held = new Map<string, (() => void)[]>();
  let rendered = 0;
  let startedAt = 0;
  let isOpen = false;

  const hasRoom = () => rendered < MOST_RENDERED && now() - startedAt < MOST_TURN_MS;

  function begin(): void {
    startedAt = now();
    while (hasRoom()) {
      const [first] = held;
      if (first === undefined) break;
      const [peer, acts] = first;
      held.delete(peer);
      const act = acts.shift();
      if (acts.length > 0) held.set(peer, acts);
      act?.();
    }
    isOpen = held.size > 0;
    if (isOpen) setImmediate(begin);
  }

  return {
    serve(peer, act) {
      if (!isOpen) {
        isOpen = true;
        startedAt = now();
        setImmediate(begin);
      }
      if (held.size === 0 && hasRoom()) {
        act();
        return;
      }
      const acts = held.get(peer);
      if (acts === undefined) held.set(peer, [act]);
      else acts.push(act);
    },
    rendered(characters) {
      rendered += characters;
      return () => {
        rendered -= characters;
      };
    },
  };
}
