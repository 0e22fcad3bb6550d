import type { ChangeInterest } from './requestChanges.ts';

/** Those who wait for a change of the queue, by what they wait for. */
export interface Watchers {
  /** @returns ends the watch */
  watch(interest: ChangeInterest, onChange: () => void): () => void;
  isEmpty(): boolean;
  /** Ids of the requests that are waited for. */
  requestIds(): readonly string[];
  /** A request has moved. */
  moved(requestId: string): void;
  /** A request has become pending. */
  appeared(chainName: string): void;
  /** Something has moved, and nobody knows what: calls all but those whose request still has the status that they know. */
  lookUp(statusOf: (requestId: string) => unknown): void;
}

/** Callbacks by name. */
type ByName<T> = Map<string, Set<T>>;

function addTo<T>(watchers: ByName<T>, name: string, one: T): () => void {
  const ones = watchers.get(name) ?? new Set();
  watchers.set(name, ones.add(one));
  return () => {
    if (ones.delete(one) && ones.size === 0) watchers.delete(name);
  };
}

/** Keeps those who wait; ten thousand of them cost nothing while nothing moves. */
export function createWatchers(): Watchers {
  const requests: ByName<{ readonly status: string; readonly onChange: () => void }> = new Map();
  const chains: ByName<() => void> = new Map();
  /** Those who wait for anything, each an object of its own. */
  const anything = new Set<{ readonly onChange: () => void }>();

  function callAnything(): void {
    if (anything.size > 0) for (const { onChange } of [...anything]) onChange();
  }

  return {
    watch(interest, onChange) {
      if ('requestId' in interest) return addTo(requests, interest.requestId, { status: interest.status, onChange });
      if ('chainName' in interest) return addTo(chains, interest.chainName, onChange);
      const one = { onChange };
      anything.add(one);
      return () => anything.delete(one);
    },
    isEmpty: () => requests.size === 0 && chains.size === 0 && anything.size === 0,
    requestIds: () => [...requests.keys()],
    moved(requestId) {
      callAnything();
      for (const { onChange } of [...(requests.get(requestId) ?? [])]) onChange();
    },
    appeared(chainName) {
      callAnything();
      for (const onChange of [...(chains.get(chainName) ?? [])]) onChange();
    },
    lookUp(statusOf) {
      callAnything();
      for (const [requestId, watchers] of requests) {
        const status = statusOf(requestId);
        for (const watcher of [...watchers]) if (watcher.status !== status) watcher.onChange();
      }
      for (const watchers of chains.values()) for (const onChange of [...watchers]) onChange();
    },
  };
}
