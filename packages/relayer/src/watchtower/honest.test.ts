import type { RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { expect, test, vi } from 'vitest';
import type { ChainRpc } from '../chain/createChainRpc.ts';
import { createRequestHasher } from '../checks/findNonce.ts';
import type { Accusation, Checked } from './createFindingCheck.ts';
import { createWatch, type WatchOptions } from './createWatch.ts';
import type { SeenHead, StoredExecution } from './journal/openSeenChain.ts';
import { openWatchJournal } from './journal/openWatchJournal.ts';

/*
 * What an honest relayer can have done, or its nodes can have shown, so that it looks like a liar: played with the watchtower's default
 * settings, a block every 12 s, in virtual time.
 */

const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const addresses = ['aa', 'bb', 'cc', 'dd'].map((byte) => `0x${byte.repeat(20)}`);
const [SIGNER, RELAYER, FORWARDER, OTHER] = addresses as [Hex, Hex, Hex, Hex];
const TX = word('11');
const GWEI = 10n ** 9n;
const START = 1_000_000n;
const BLOCK_SECONDS = 12n;
const at = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

const params = createSignedParams({
  action: 'WRITE_DATA_FOR',
  params: { cloudId: word('01'), dataId: word('02'), payload: '0x', relayerFee: '1', timestamp: String(START - 60n) },
  signer: SIGNER,
  signature: `${word('21')}${word('22').slice(2)}1b`,
});
const signed = { action: 'WRITE_DATA_FOR', params, chainId: 1, forwarder: FORWARDER } as const;
const EXECUTION: Omit<StoredExecution, 'block'> = {
  ...{ txHash: TX, logIndex: 0, signer: SIGNER, nonce: 7n, relayer: RELAYER, deepSeconds: undefined },
  digest: createRequestHasher(signed)(7n),
};

function setUp() {
  const world = {
    seconds: START,
    baseFee: GWEI,
    /** How far the clock of the gateway, and the node, are behind. */
    gatewayLag: 0n,
    nodeLag: 0n,
    pending: 1,
    /** Waits behind a nonce that no node knows any more. */
    isQueued: false,
    checked: 'confirmed' as Checked,
    accused: undefined as Accusation | undefined,
    record: undefined as RequestRecord | undefined,
    mined: [] as StoredExecution[],
    fork: undefined as bigint | undefined,
  };
  const journal = openWatchJournal({ path: ':memory:', now: () => Number(world.seconds) * 1000 });
  const rpc: Pick<ChainRpc, 'read'> = {
    async read([method, , tag], parse) {
      if (method === 'txpool_contentFrom') return parse({ pending: {}, queued: world.isQueued ? { 9: {} } : {} });
      if (method !== 'eth_getTransactionCount') return parse(null);
      return parse(`0x${(tag === 'pending' ? world.pending : 1).toString(16)}`);
    },
  };
  const blockAt = (seconds: bigint) => (seconds - START) / BLOCK_SECONDS + 100n;
  const options: WatchOptions = {
    ...{ rpc, journal, chainId: 1, forwarder: FORWARDER, confirmations: 3n, leaseSeconds: 900n, maxAge: 86_400n },
    alerter: { raise: () => undefined as never },
    async checkFinding(accusation) {
      world.accused = accusation;
      return world.checked;
    },
    lookAtQueue: async () => {
      const { record, seconds } = world;
      return { records: record === undefined ? [] : [record], gone: [], atMs: Number(seconds) * 1000 };
    },
    async lookAtChain() {
      const seen = world.seconds - world.nodeLag;
      const number = blockAt(seen);
      const head: SeenHead = {
        number,
        hash: word('33'),
        seconds: START + (number - 100n) * BLOCK_SECONDS,
        baseFee: world.baseFee,
      };
      const executions = world.mined.splice(0);
      const { fork } = world;
      world.fork = undefined;
      return { head, heads: [head], fork, lostBlocks: fork === undefined ? 0n : head.number - fork, executions };
    },
    now: () => Number(world.seconds) * 1000,
  };
  const look = createWatch(options);
  return {
    world,
    journal,
    claim() {
      const time = at(world.seconds);
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
      for (let passed = 0n; passed < seconds; passed += BLOCK_SECONDS) {
        await look();
        world.seconds += BLOCK_SECONDS;
      }
      return journal.listFindings().map(({ kind }) => kind);
    },
  };
}

// Shows WATCH-1.
test('nobody is idle while gas costs more than when it claimed; once it does not, a lease and a quarter is enough', async () => {
  const { world, claim, live } = setUp();
  await live(60n);
  claim();
  expect(await live(60n)).toEqual([]);
  // The node drops what pays 3 gwei.
  world.baseFee = 5n * GWEI;
  expect(await live(7200n)).toEqual([]);
  world.baseFee = GWEI;
  expect(await live(1005n)).toEqual([]);
  expect(await live(120n)).toEqual(['idleClaim']);
});

// Shows WATCH-1.
test('two that hold a request by turns, each for less than a lease and a quarter, are found; one that worked besides is not', async () => {
  const { world, journal, claim, report, live } = setUp();
  const TURN = 960n;
  await live(60n);
  claim();
  for (const holder of [OTHER, RELAYER, OTHER]) {
    expect(await live(TURN)).toEqual([]);
    report({ claimedBy: holder, claimedAt: at(world.seconds) });
  }
  expect(await live(24n)).toEqual(['idleRelease']);
  expect(journal.listFindings()[0]?.relayer).toBe(RELAYER);
  world.mined.push({ ...EXECUTION, txHash: word('12'), digest: word('13'), relayer: OTHER, block: 1n });
  await live(TURN);
  report({ claimedBy: RELAYER, claimedAt: at(world.seconds) });
  expect(await live(24n)).toEqual(['idleRelease']);
});

// Shows WATCH-1.
test('who has claimed at the cheapest moment is idle while gas costs what one block can have changed, and no more', async () => {
  const { world, claim, live } = setUp();
  await live(60n);
  claim();
  await live(12n);
  world.baseFee = GWEI + GWEI / 7n;
  expect(await live(1800n)).toEqual([]);
  world.baseFee = GWEI + GWEI / 8n;
  expect(await live(1185n)).toEqual(['idleClaim']);
});

// Shows WATCH-1.
test('nobody is idle while a transaction of its waits; after a lost pool the count begins where it stood', async () => {
  const { world, claim, live } = setUp();
  claim();
  await live(24n);
  world.pending = 2;
  expect(await live(7200n)).toEqual([]);
  world.pending = 1;
  expect(await live(1065n)).toEqual([]);
  expect(await live(120n)).toEqual(['idleClaim']);
});

// Shows WATCH-1.
test('nobody is idle while a transaction of its waits behind one that pays too little', async () => {
  const { world, claim, live } = setUp();
  claim();
  world.isQueued = true;
  expect(await live(1500n)).toEqual([]);
  world.isQueued = false;
  expect(await live(1065n)).toEqual([]);
  expect(await live(120n)).toEqual(['idleClaim']);
});

// Shows WATCH-3.
test('a node that knows of its work clears the holder, and the count begins anew', async () => {
  const { world, journal, claim, live } = setUp();
  claim();
  world.checked = 'refuted';
  expect(await live(1150n)).toEqual([]);
  expect(journal.get('r')?.idleSeconds).toBeLessThan(100n);
  world.checked = 'confirmed';
  expect(await live(1005n)).toEqual([]);
  expect(await live(180n)).toEqual(['idleClaim']);
});

// Shows WATCH-1.
test('a slow node, and a gateway whose clock is slow, make no report too early to be true', async () => {
  const { world, claim, report, live, mine } = setUp();
  Object.assign(world, { gatewayLag: 120n, nodeLag: 120n });
  await live(60n);
  claim();
  await live(24n);
  report({ status: 'success', txHash: TX });
  expect(await live(108n)).toEqual([]);
  world.nodeLag = 0n;
  mine();
  expect(await live(120n)).toEqual([]);
});

// Shows WATCH-8.
test.each([
  ['is mined again', true, []],
  ['reverts when it is mined again', false, ['reorganised']],
])('a success that a reorganisation undoes and that %s', async (_, isMined, found) => {
  const { world, journal, claim, report, live, mine } = setUp();
  claim();
  await live(12n);
  mine();
  await live(60n);
  report({ status: 'success', txHash: TX });
  expect(await live(120n)).toEqual([]);
  expect(journal.get('r')?.state).toBe('done');
  world.fork = 100n;
  await live(60n);
  if (isMined) mine();
  expect(await live(780n)).toEqual([]);
  expect(await live(240n)).toEqual(found);
  expect(journal.get('r')?.state).toBe('done');
});

// Shows WATCH-7.
test('what was open when is known only of claims after the start, and after the last gap', async () => {
  const { world, claim, report, live } = setUp();
  Object.assign(world, { checked: 'unknown' });
  let requests = 0;
  async function play(): Promise<boolean | undefined> {
    claim();
    requests += 1;
    world.record = { ...world.record, requestId: `r${requests}` } as RequestRecord;
    await live(12n);
    report({ status: 'failed', errorMessage: 'out of luck' });
    await live(60n);
    return world.accused?.report?.isWatched;
  }
  await live(12n);
  expect(await play()).toBe(false);
  expect(await play()).toBe(true);
  world.seconds += 120n;
  await live(12n);
  expect(await play()).toBe(false);
  expect(await play()).toBe(true);
});

// Shows WATCH-7.
test('what was reported failed before a reorganisation, however short, accuses nobody', async () => {
  const { world, claim, report, live } = setUp();
  claim();
  await live(48n);
  world.fork = 102n;
  await live(12n);
  report({ status: 'failed', errorMessage: 'the forwarder nonce it was signed for is used already' });
  expect(await live(240n)).toEqual([]);
});

// Shows WATCH-7.
test.each([
  ['a restart from a backup, of before the claim', 400n],
  ['a gateway that was out of reach', 40n],
])(
  'what was reported while nobody looked accuses nobody, since a reorganisation may have undone it: %s',
  async (_, unseen) => {
    const { world, claim, report, live } = setUp();
    await live(60n);
    claim();
    world.seconds += unseen;
    report({ status: 'success', txHash: TX });
    world.seconds += 30n;
    expect(await live(900n)).toEqual([]);
    expect(await live(120n)).toEqual(['reorganised']);
  },
);

test('what was reported while the journal could not be written accuses nobody', async () => {
  const { world, journal, claim, report, live } = setUp();
  await live(60n);
  const full = vi.spyOn(journal, 'commit').mockImplementation(() => {
    throw new Error('the disk is full');
  });
  claim();
  for (let look = 0; look < 8; look++) {
    await expect(live(12n)).rejects.toThrow('the disk is full');
    world.seconds += 12n;
    if (look === 4) report({ status: 'success', txHash: TX });
  }
  full.mockRestore();
  expect(await live(900n)).toEqual([]);
});

test('a report that is first seen with the reorganisation that has undone it accuses nobody', async () => {
  const { world, claim, report, live } = setUp();
  await live(240n);
  claim();
  report({ status: 'success', txHash: TX });
  world.fork = (world.seconds - START) / BLOCK_SECONDS + 100n - 10n;
  expect(await live(900n)).toEqual([]);
  expect(await live(120n)).toEqual(['reorganised']);
});

test('a failure that nodes refute is told once, and one that they cannot evaluate waits', async () => {
  const { world, journal, claim, report, live } = setUp();
  claim();
  await live(48n);
  report({ status: 'failed', errorMessage: 'InvalidSignature()' });
  world.checked = 'unknown';
  expect(await live(240n)).toEqual([]);
  expect(journal.get('r')?.state).toBe('ended');
  world.checked = 'confirmed';
  expect(await live(24n)).toEqual(['falseFailure']);
  expect(await live(240n)).toEqual(['falseFailure']);
});

// Shows WATCH-1.
test('what another Forwarder has carried out, for which it was signed, is told and accuses nobody', async () => {
  const { world, journal, claim, report, live } = setUp();
  claim();
  await live(48n);
  report({ status: 'success', txHash: TX });
  world.checked = 'otherForwarder';
  expect(await live(120n)).toEqual(['otherForwarder']);
  expect(journal.get('r')?.state).toBe('done');
});
