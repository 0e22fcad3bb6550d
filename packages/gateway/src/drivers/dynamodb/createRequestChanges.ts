import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { INITIAL_STATUS, type RequestStatus } from '@prism-gateway/protocol';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { askStore } from './askStore.ts';
import { readBytes, readText, text } from './attributes.ts';
import { readPosition } from './position.ts';
import { readItems } from './readItems.ts';
import { type RequestTable, shardKeys } from './requestItem.ts';
import { type IndexDescription, requestIndexes } from './tables.ts';

/** Between two looks, in milliseconds: at first, and after each that shows nothing twice as long, up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1000;
/** What is due so soon after a look is looked at with it, in milliseconds: what is watched in one turn of the process costs one call. */
const EARLY_MS = 50;
/** What reaches the index behind newer entries shows nowhere as a change: so often the chain is read all the same, in milliseconds. */
const LATE_PAUSE_MS = 5000;

type OnChange = () => void;

/** Watches of this process, and what its own calls tell them. */
export interface WatchedChanges extends RequestChanges {
  /** Tells at once that this process has moved a request, or stored it. */
  tell(request: Pick<StoredRequest, 'requestId' | 'chainName' | 'status'>): void;
  /** Tells at once that this process has removed a request. */
  removed(requestId: string): void;
  /** Ends all watches; nothing is called afterwards. */
  close(): void;
}

/** When something is looked at next, on a clock that is never set. */
interface Schedule {
  dueAt: number;
  pauseMs: number;
}

interface RequestWatch extends Schedule {
  readonly status: RequestStatus;
  readonly onChange: OnChange;
}

interface ChainWatch extends Schedule {
  readonly watching: Set<OnChange>;
  /** The newest entry of each partition; undefined: nobody has looked yet. */
  newest: string | undefined;
  toldAt: number;
}

function putOff(schedule: Schedule, now: number): void {
  schedule.dueAt = now + schedule.pauseMs;
  schedule.pauseMs = Math.min(LONGEST_PAUSE_MS, schedule.pauseMs * 2);
}

const isDue = ({ dueAt }: Schedule, now: number): boolean => dueAt <= now + EARLY_MS;

const newSchedule = (now: number): Schedule => ({ dueAt: now + FIRST_PAUSE_MS, pauseMs: 2 * FIRST_PAUSE_MS });

async function readNewest(
  { client, name: TableName }: RequestTable,
  { name: IndexName, partitionKey, sortKey }: IndexDescription,
  key: string,
): Promise<string> {
  const output = await client.send(
    new QueryCommand({
      TableName,
      IndexName,
      KeyConditionExpression: '#key = :key',
      ExpressionAttributeNames: { '#key': partitionKey.name },
      ExpressionAttributeValues: { ':key': text(key) },
      ScanIndexForward: false,
      Limit: 1,
    }),
  );
  const [item] = output.Items ?? [];
  return item === undefined ? '' : readPosition(readBytes(item, sortKey.name));
}

/** Reads the newest entry of each partition in which something of the chain becomes pending. */
async function readChain(table: RequestTable, chainName: string): Promise<string> {
  const { pending, released } = requestIndexes;
  const newest = await askStore(() =>
    Promise.all([
      ...shardKeys(chainName, table.shards).map((key) => readNewest(table, pending, key)),
      readNewest(table, released, chainName),
    ]),
  );
  return newest.join(' ');
}

/**
 * Watches requests and chains by looking at them from time to time, while somebody does: at all requests by one BatchGetItem a hundred,
 * and once at each chain, whoever many wait.
 */
export function createRequestChanges(table: RequestTable): WatchedChanges {
  const requests = new Map<string, Set<RequestWatch>>();
  const chains = new Map<string, ChainWatch>();
  /** What this process moves is told to those who wait for anything; what others count, they write every ten seconds. */
  const anything = new Set<OnChange>();
  let timer: NodeJS.Timeout | undefined;

  async function lookAtRequests(now: number): Promise<void> {
    const due = [...requests].filter(([, watches]) => [...watches].some((watch) => isDue(watch, now)));
    for (const [, watches] of due) for (const watch of watches) putOff(watch, now);
    const items = await readItems(
      table,
      due.map(([requestId]) => requestId),
      { consistent: false },
    );
    for (const [requestId, watches] of due) {
      const item = items.get(requestId);
      const status = item === undefined ? undefined : readText(item, 'status');
      for (const watch of watches) if (watch.status !== status) watch.onChange();
    }
  }

  async function lookAtChain(chainName: string, chain: ChainWatch, now: number): Promise<void> {
    putOff(chain, now);
    const newest = await readChain(table, chainName);
    const isLate = now - chain.toldAt > LATE_PAUSE_MS;
    if (newest === chain.newest && !isLate) return;
    if (newest !== chain.newest) Object.assign(chain, newSchedule(now));
    chain.newest = newest;
    chain.toldAt = now;
    for (const onChange of [...chain.watching]) onChange();
  }

  async function look(): Promise<void> {
    const now = performance.now();
    const due = [...chains].filter(([, chain]) => isDue(chain, now));
    // A look that fails tells nothing: who waits reads for itself in the end.
    await Promise.allSettled([
      lookAtRequests(now),
      ...due.map(([chainName, chain]) => lookAtChain(chainName, chain, now)),
    ]);
    timer = undefined;
    start();
  }

  function start(): void {
    if (timer !== undefined || (requests.size === 0 && chains.size === 0)) return;
    timer = setTimeout(() => void look(), FIRST_PAUSE_MS);
  }

  function watchRequest(requestId: string, status: RequestStatus, onChange: OnChange): () => void {
    const watches = requests.get(requestId) ?? new Set();
    const watch: RequestWatch = { status, onChange, ...newSchedule(performance.now()) };
    watches.add(watch);
    requests.set(requestId, watches);
    return () => {
      watches.delete(watch);
      if (watches.size === 0 && requests.get(requestId) === watches) requests.delete(requestId);
    };
  }

  function watchChain(chainName: string, onChange: OnChange): () => void {
    const now = performance.now();
    const chain = chains.get(chainName) ?? { watching: new Set(), newest: undefined, toldAt: now, ...newSchedule(now) };
    // One object a watch, for the same function may watch twice.
    const told = () => onChange();
    chain.watching.add(told);
    chains.set(chainName, chain);
    return () => {
      chain.watching.delete(told);
      if (chain.watching.size === 0 && chains.get(chainName) === chain) chains.delete(chainName);
    };
  }

  return {
    watch(interest, onChange) {
      if ('anything' in interest) {
        const told = () => onChange();
        anything.add(told);
        return () => anything.delete(told);
      }
      const unwatch =
        'requestId' in interest
          ? watchRequest(interest.requestId, interest.status, onChange)
          : watchChain(interest.chainName, onChange);
      start();
      return unwatch;
    },
    tell({ requestId, chainName, status }) {
      for (const onChange of [...anything]) onChange();
      for (const watch of requests.get(requestId) ?? []) if (watch.status !== status) watch.onChange();
      if (status !== INITIAL_STATUS) return;
      for (const onChange of chains.get(chainName)?.watching ?? []) onChange();
    },
    removed(requestId) {
      for (const onChange of [...anything]) onChange();
      for (const watch of [...(requests.get(requestId) ?? [])]) watch.onChange();
    },
    close() {
      clearTimeout(timer);
      requests.clear();
      chains.clear();
      anything.clear();
    },
  };
}
