import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams } from '@prism-gateway/protocol/typed-data';
import { type Hex, numberToHex } from 'viem';
import type { ReadRpc } from '../src/chain/createChainRpc.ts';
import { createRequestHasher } from '../src/checks/findNonce.ts';
import type { Accusation, Checked } from '../src/watchtower/createFindingCheck.ts';
import { createWatch } from '../src/watchtower/createWatch.ts';
import type { SeenHead, StoredExecution } from '../src/watchtower/journal/openSeenChain.ts';
import { openWatchJournal } from '../src/watchtower/journal/openWatchJournal.ts';
import type { WatchOptions } from '../src/watchtower/watchContext.ts';

/** 32 bytes of one value. */
export const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const addresses = ['aa', 'bb', 'cc', 'dd'].map((byte) => `0x${byte.repeat(20)}`);
export const [SIGNER, RELAYER, FORWARDER, OTHER] = addresses as [Hex, Hex, Hex, Hex];
export const TX = word('11');
export const GWEI = 10n ** 9n;
export const START = 1_000_000n;
export const BLOCK_SECONDS = 12n;
/** A time as the gateway writes it. @param seconds - Unix seconds */
export const at = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

/** Of the request, as it is signed. */
export const params = createSignedParams({
  action: 'WRITE_DATA_FOR',
  params: { cloudId: word('01'), dataId: word('02'), payload: '0x', relayerFee: '1', timestamp: String(START - 60n) },
  signer: SIGNER,
  signature: `${word('21')}${word('22').slice(2)}1b`,
});
const signed = { action: 'WRITE_DATA_FOR', params, chainId: 1, forwarder: FORWARDER } as const;
/** The execution of the request, its block aside. */
export const EXECUTION: Omit<StoredExecution, 'block'> = {
  ...{ txHash: TX, logIndex: 0, signer: SIGNER, nonce: 7n, relayer: RELAYER, deepSeconds: undefined },
  digest: createRequestHasher(signed)(7n),
};

/** A watchtower with its default settings, a block every 12 s in virtual time unless another is given, and one request. */
export function startWatchRig(blockSeconds = BLOCK_SECONDS) {
  const world = {
    seconds: START,
    baseFee: GWEI,
    /** How far the clock of the gateway, and the node, are behind. */
    gatewayLag: 0n,
    /** How far this machine's clock is behind. */
    ownLag: 0n,
    nodeLag: 0n,
    pending: 1,
    /** Waits behind a nonce that no node knows any more. */
    isQueued: false,
    checked: 'confirmed' as Checked,
    accused: undefined as Accusation | undefined,
    /** How often nodes were asked about a finding. */
    checks: 0,
    record: undefined as RequestRecord | undefined,
    mined: [] as StoredExecution[],
    fork: undefined as bigint | undefined,
  };
  const journal = openWatchJournal({ path: ':memory:', now: () => Number(world.seconds) * 1000 });
  const rpc: ReadRpc = {
    async read([method, , tag], parse) {
      if (method === 'txpool_contentFrom') return parse({ pending: {}, queued: world.isQueued ? { 9: {} } : {} });
      if (method !== 'eth_getTransactionCount') return parse(null);
      return parse(`0x${(tag === 'pending' ? world.pending : 1).toString(16)}`);
    },
  };
  const blockAt = (seconds: bigint) => (seconds - START) / blockSeconds + 100n;
  const options: WatchOptions = {
    ...{ rpc, journal, chainId: 1, forwarder: FORWARDER, confirmations: 3n, leaseSeconds: 900n, maxAge: 86_400n },
    alerter: { raise: () => undefined as never },
    async checkFinding(accusation) {
      world.accused = accusation;
      world.checks++;
      return world.checked;
    },
    lookAtQueue: async () => {
      const { record, seconds } = world;
      return { records: record === undefined ? [] : [record], gone: [], atMs: Number(seconds - world.ownLag) * 1000 };
    },
    async lookAtChain() {
      const seen = world.seconds - world.nodeLag;
      const number = blockAt(seen);
      const head: SeenHead = {
        number,
        hash: numberToHex(number, { size: 32 }),
        seconds: START + (number - 100n) * blockSeconds,
        baseFee: world.baseFee,
      };
      const executions = world.mined.splice(0);
      const { fork } = world;
      world.fork = undefined;
      return { head, heads: [head], fork, lostBlocks: fork === undefined ? 0n : head.number - fork, executions };
    },
    now: () => Number(world.seconds - world.ownLag) * 1000,
    monotonicNow: () => Number(world.seconds) * 1000,
  };
  const look = createWatch(options);
  return {
    world,
    journal,
    claim() {
      const time = at(world.seconds - world.gatewayLag);
      world.record = {
        ...{ requestId: 'r', chainName: 'c', action: 'WRITE_DATA_FOR', signer: SIGNER, status: 'processing', params },
        ...{ claimedBy: RELAYER, claimedAt: time, createdAt: time, updatedAt: time },
      } as RequestRecord;
    },
    report(outcome: Partial<RequestRecord>) {
      world.record = { ...world.record, ...outcome, updatedAt: at(world.seconds - world.gatewayLag) } as RequestRecord;
    },
    /** A transaction that carries the request out is in the newest block. */
    mine() {
      world.mined.push({ ...EXECUTION, block: blockAt(world.seconds) });
    },
    /** Looks at each block for some time. @returns what was found by then */
    async live(seconds: bigint): Promise<readonly string[]> {
      for (let passed = 0n; passed < seconds; passed += blockSeconds) {
        await look();
        world.seconds += blockSeconds;
      }
      return journal.listFindings().map(({ kind }) => kind);
    },
  };
}
