import type { RequestRecord } from '@prism-gateway/protocol';
import { expect, test, vi } from 'vitest';
import { BLOCK_SECONDS, EXECUTION, GWEI, START, startWatchRig, TX, word } from '../../test/watchRig.ts';

/*
 * What an honest relayer can have done, or its nodes can have shown, so that it looks like a liar: played with the watchtower's default
 * settings, a block every 12 s, in virtual time.
 */

// Shows WATCH-1.
test('nobody is idle while gas costs more than when it claimed; once it does not, a lease and a quarter is enough', async () => {
  const { world, claim, live } = startWatchRig();
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
test('who has claimed at the cheapest moment is idle while gas costs what one block can have changed, and no more', async () => {
  const { world, claim, live } = startWatchRig();
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
  const { world, claim, live } = startWatchRig();
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
  const { world, claim, live } = startWatchRig();
  claim();
  world.isQueued = true;
  expect(await live(1500n)).toEqual([]);
  world.isQueued = false;
  expect(await live(1065n)).toEqual([]);
  expect(await live(120n)).toEqual(['idleClaim']);
});

// Shows WATCH-3.
test('a node that knows of its work clears the holder, and the count begins anew', async () => {
  const { world, journal, claim, live } = startWatchRig();
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
  const { world, claim, report, live, mine } = startWatchRig();
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
  const { world, journal, claim, report, live, mine } = startWatchRig();
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
  const { world, claim, report, live } = startWatchRig();
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
  const { world, claim, report, live } = startWatchRig();
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
    const { world, claim, report, live } = startWatchRig();
    await live(60n);
    claim();
    world.seconds += unseen;
    report({ status: 'success', txHash: TX });
    world.seconds += 30n;
    expect(await live(900n)).toEqual([]);
    expect(await live(120n)).toEqual(['reorganised']);
  },
);

// Shows WATCH-1.
test('what was reported before the journal began accuses nobody, since a reorganisation may have undone it', async () => {
  const { world, claim, report, live } = startWatchRig();
  claim();
  report({ status: 'success', txHash: TX });
  world.seconds += 1n;
  expect(await live(900n)).toEqual([]);
  expect(await live(120n)).toEqual(['reorganised']);
});

// Shows WATCH-1.
test('a lie of the very second of the first look is found like any other', async () => {
  const { claim, report, live } = startWatchRig();
  claim();
  report({ status: 'success', txHash: TX });
  expect(await live(120n)).toEqual(['falseSuccess']);
});

// Shows WATCH-1.
test('who was not watched and has carried it out in another transaction than it named is not accused', async () => {
  const { world, claim, report, mine, live } = startWatchRig();
  claim();
  await live(60n);
  report({ status: 'success', txHash: word('12') });
  mine();
  world.checked = 'replaced';
  expect(await live(120n)).toEqual(['reorganised']);
});

test('what was reported while the journal could not be written accuses nobody', async () => {
  const { world, journal, claim, report, live } = startWatchRig();
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

// Shows WATCH-1.
test('what was reported during a look that took long accuses nobody: many quick blocks may have come and gone', async () => {
  const { world, claim, report, live } = startWatchRig(1n);
  await live(60n);
  claim();
  await live(2n);
  world.seconds += 20n;
  report({ status: 'success', txHash: TX });
  world.seconds += 10n;
  expect(await live(900n)).toEqual([]);
  expect(await live(120n)).toEqual(['reorganised']);
});

test.each([
  ['deeper than the confirmations', 10n],
  ['as deep as them, of which the last block was never seen', 2n],
])('a report that is first seen with the reorganisation that has undone it accuses nobody: %s', async (_, lost) => {
  const { world, claim, report, live } = startWatchRig();
  await live(240n);
  claim();
  report({ status: 'success', txHash: TX });
  world.fork = (world.seconds - START) / BLOCK_SECONDS + 100n - lost;
  expect(await live(900n)).toEqual([]);
  expect(await live(120n)).toEqual(['reorganised']);
});

// Shows WATCH-1.
test('a report that was on its way when the reorganisation was seen that has undone it accuses nobody', async () => {
  const { world, claim, report, live } = startWatchRig();
  await live(240n);
  claim();
  world.fork = (world.seconds - START) / BLOCK_SECONDS + 100n - 3n;
  await live(12n);
  report({ status: 'success', txHash: TX });
  expect(await live(900n)).toEqual([]);
  expect(await live(120n)).toEqual(['reorganised']);
});

test('a failure that nodes refute is reported once, and one that they cannot evaluate waits', async () => {
  const { world, journal, claim, report, live } = startWatchRig();
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

// Shows WATCH-7.
test('a failure that nodes have refuted is not asked about again, however much its signer does', async () => {
  const { world, journal, claim, report, mine, live } = startWatchRig();
  claim();
  await live(48n);
  report({ status: 'failed', errorMessage: 'InvalidSignature()' });
  world.checked = 'refuted';
  expect(await live(48n)).toEqual([]);
  expect(world.checks).toBe(1);
  for (let block = 0; block < 5; block++) {
    world.mined.push({ ...EXECUTION, txHash: word(`4${block}`), digest: word('66'), block: 110n });
    await live(12n);
  }
  expect([world.checks, journal.get('r')?.state]).toEqual([1, 'watching']);
  // What it carries out itself is a lie all the same.
  mine();
  world.checked = 'confirmed';
  expect(await live(60n)).toEqual(['falseFailure']);
});

// Shows WATCH-1.
test('what another Forwarder has carried out, for which it was signed, is reported and accuses nobody', async () => {
  const { world, journal, claim, report, live } = startWatchRig();
  claim();
  await live(48n);
  report({ status: 'success', txHash: TX });
  world.checked = 'otherForwarder';
  expect(await live(120n)).toEqual(['otherForwarder']);
  expect(journal.get('r')?.state).toBe('done');
});
