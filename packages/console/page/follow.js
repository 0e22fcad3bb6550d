// @ts-check
import { readGateway } from './api.js';

/** Longest wait of one call for something to happen, in seconds: other programs move without the queue. */
const WAIT_SECONDS = '5';
/** Least time between two looks at a busy queue, and after a fault, in milliseconds. */
const [PAUSE_MS, FAULT_PAUSE_MS] = [1000, 2000];

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Has something called whenever the queue has moved.
 *
 * @param {() => void} listener
 * @returns {() => void} ends it
 */
export function onMove(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** @param {number} ms @param {AbortSignal} signal */
const pause = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve(undefined);
    };
    signal.addEventListener('abort', end, { once: true });
  });

/** Waits until the page is looked at. @param {AbortSignal} signal */
const whileHidden = (signal) =>
  new Promise((resolve) => {
    const look = () => (!document.hidden || signal.aborted) && resolve(undefined);
    document.addEventListener('visibilitychange', look, { signal });
    signal.addEventListener('abort', look, { once: true });
    look();
  });

/**
 * Follows the queue by one call that waits for other stats than the last ones, while the page is looked at.
 *
 * @param {{ onStats: (stats: import('./types.d.ts').Answers['stats']) => void, onFault: import('./types.d.ts').OnFault }} reported
 * @returns {() => void} ends it
 */
export function followQueue({ onStats, onFault }) {
  const ending = new AbortController();
  const { signal } = ending;
  async function follow() {
    let seen = '';
    let isFaulty = false;
    while (!signal.aborted) {
      await whileHidden(signal);
      const query = { seen, ...(seen !== '' && { wait: WAIT_SECONDS }) };
      await readGateway('stats', 'admin/stats', { query, signal }).then(
        async (stats) => {
          if (signal.aborted) return;
          seen = stats.version;
          if (isFaulty) onFault(undefined);
          isFaulty = false;
          onStats(stats);
          for (const listener of [...listeners]) listener();
          await pause(PAUSE_MS, signal);
        },
        async (error) => {
          if (signal.aborted) return;
          isFaulty = true;
          seen = '';
          onFault(error);
          await pause(FAULT_PAUSE_MS, signal);
        },
      );
    }
  }
  void follow();
  return () => ending.abort();
}
