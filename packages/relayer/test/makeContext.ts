import { type Budgets, createBudgets } from '../src/budgets/createBudgets.ts';
import type { ChainReader } from '../src/chain/chainReader.ts';
import type { ChainState } from '../src/chain/watchChain.ts';
import { createEvents, type Events, type Listener, type RelayerEvent } from '../src/events/events.ts';
import type { PendingQueue } from '../src/gateway/createFeedQueue.ts';
import { type Journal, openJournal } from '../src/journal/openJournal.ts';
import { type Candidates, createCandidates } from '../src/lifecycle/candidates.ts';
import type { ChainPolicy, RelayerChain, RelayerContext, RelayerGateway, RelayNode } from '../src/lifecycle/context.ts';
import { createInFlight } from '../src/lifecycle/inFlight.ts';
import { createAdaptiveWait } from '../src/nodes/askNodes.ts';
import { watchHead } from '../src/nodes/confirmReceipt.ts';
import { parseSettings } from '../src/settings/settings.ts';

const SETTINGS = {
  ...{ RELAYER_PRIVATE_KEY: `0x${'22'.repeat(32)}`, CHAIN_NAME: 'c', RPC_URL: 'http://127.0.0.1:1' },
  ...{ FORWARDER_ADDRESS: `0x${'f0'.repeat(20)}`, CREDITS_PER_ETH: '3000000' },
};

/** Default settings of a chain. @param given - variables of the environment */
export function makePolicy(given: Readonly<Record<string, string>> = {}): ChainPolicy {
  const { policy, chains } = parseSettings({ ...SETTINGS, ...given });
  // One chain is named.
  return { ...policy, ...chains[0]!, confirmations: 1 };
}

/** Something outside of the relayer, of which a test gives what it is asked for. */
function outside<T extends object>(what: string, given: Partial<T>): T {
  return new Proxy(given as T, {
    get(target, key) {
      if (key in target) return Reflect.get(target, key);
      throw new Error(`${what} is asked for ${String(key)}, which this test does not give`);
    },
  });
}

/** A memory of candidates beside a journal of its own, with the default patience. */
export function makeCandidates(
  journal = openJournal({ path: ':memory:', nowMs: 0 }),
  nextBlockInMs: () => number | undefined = () => undefined,
): Candidates {
  return createCandidates({ journal, giveUpMs: makePolicy().giveUpMs, nextBlockInMs });
}

type GivenNode = Partial<Omit<RelayNode, 'reader'>> & { readonly reader?: Partial<ChainReader> };

/** A node by itself. */
export function makeNode({ reader = {}, ...given }: GivenNode, now: () => number): RelayNode {
  return {
    ...{ name: 'a node', rpc: outside<RelayNode['rpc']>('the node', {}) },
    ...{ findExecution: async () => undefined, findInvalidation: async () => undefined },
    findFirstUse: async () => 0n,
    ...{ wait: createAdaptiveWait(), isStuck: watchHead(now), silence: { untilMs: 0 } },
    ...given,
    reader: outside<ChainReader>('the node', { code: async () => '0x', ...reader }),
  };
}

type Given<T, Parts extends keyof T> = Partial<Omit<T, Parts>> & { readonly [Part in Parts]?: Partial<T[Part]> };

/** The given parts of a context: chain and gateway as far as they are asked, and differences from the default settings. */
export interface GivenContext {
  readonly chain?: Given<Omit<RelayerChain, 'nodes'>, 'reader' | 'state' | 'sender'> & {
    readonly nodes?: readonly GivenNode[];
  };
  readonly gateway?: Given<Omit<RelayerGateway, 'candidates'>, 'queue'>;
  readonly journal?: Journal;
  readonly budgets?: Partial<Budgets>;
  readonly policy?: Partial<ChainPolicy>;
  readonly listeners?: readonly Listener[];
  readonly now?: () => number;
  /** Default `now`. */
  readonly monotonicNow?: () => number;
  readonly random?: () => number;
  readonly wake?: () => void;
  readonly advance?: RelayerContext['advance'];
  /** Default: throws it. */
  readonly onFault?: (error: unknown) => void;
  readonly signal?: AbortSignal;
}

const unlimited: Partial<Budgets> = { findExceeded: () => undefined, hold: () => true };

/** A chain of one node, if no others are given: what the relayer learns of it, this node says, too. */
function makeChain(
  { reader = {}, state = {}, sender = {}, nodes, ...given }: NonNullable<GivenContext['chain']>,
  now: () => number,
): RelayerChain {
  return {
    ...{ chainId: 31_337, forwarder: `0x${'f0'.repeat(20)}`, relayer: `0x${'f1'.repeat(20)}` },
    ...{ recoverSigner: async () => undefined, readExecuted: async () => [], isKeyShared: () => false },
    ...given,
    reader: outside('the chain', reader),
    state: outside<ChainState>('the chain', state),
    sender: outside('the sender', { isHeld: () => false, isStuck: () => false, ...sender }),
    nodes: (nodes ?? [{ reader }]).map((node) => makeNode(node, now)),
  };
}

/** The context of a relayer with default settings, whose chain and gateway are the test's; `emitted` is what has happened. */
export function makeContext(given: GivenContext): RelayerContext & { readonly emitted: readonly RelayerEvent[] } {
  const { now = () => 0, random = () => 0, wake = () => undefined, signal = new AbortController().signal } = given;
  const journal = given.journal ?? openJournal({ path: ':memory:', nowMs: 0 });
  const policy = { ...makePolicy(), ...given.policy };
  const emitted: RelayerEvent[] = [];
  const events: Events = createEvents([(event) => void emitted.push(event), ...(given.listeners ?? [])]);
  const limits = policy.lossLimits;
  const budgets = {
    ...createBudgets({ journal, limits, now, onExceeded: () => undefined }),
    ...(given.budgets ?? unlimited),
  };
  const throwFault = (error: unknown) => {
    throw error;
  };
  const { onFault = throwFault } = given;
  const { queue = {}, ...gateway } = given.gateway ?? {};
  return {
    ...{ journal, policy, events, emitted, now, monotonicNow: given.monotonicNow ?? now, random, wake, signal },
    chain: makeChain(given.chain ?? {}, now),
    gateway: outside<RelayerGateway>('the gateway', {
      hasLeases: () => true,
      ...gateway,
      candidates: createCandidates({ journal, giveUpMs: policy.giveUpMs, nextBlockInMs: () => undefined }),
      queue: outside<PendingQueue>('the queue', {
        nextUpdate: () => new Promise(() => undefined),
        hasMore: () => false,
        ...queue,
      }),
    }),
    inFlight: createInFlight({ budgets, onFault }),
    advance: given.advance ?? (() => undefined),
  };
}
