import { setTimeout as pause } from 'node:timers/promises';
import {
  createFakeClock,
  createSeededRandom,
  type RpcFault,
  type RpcFaultProxy,
  startAnvil,
  startRpcFaultProxy,
} from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import fc from 'fast-check';
import { parseGwei } from 'viem';
import { expect, test } from 'vitest';
import type { Sender } from '../src/index.ts';
import { createSenderRig, markedCall, type SenderRig } from './rigs/createSenderRig.ts';

/** Reorganisations are less deep than this. */
const CONFIRMATIONS = 3;
const MAX_REORG = CONFIRMATIONS - 1;

/** What happens to a sender and its chain. */
type Act =
  | { readonly kind: 'send'; readonly count: number }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'reorg'; readonly depth: number }
  | { readonly kind: 'forget' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** Real time, for the sender to go on by itself; nothing depends on how far it gets. */
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'faults'; readonly share: number; readonly seed: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: MAX_REORG }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'foreign' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('faults' as const),
      share: fc.double({ min: 0, max: 0.4, noNaN: true }),
      seed: fc.nat(),
    }),
  },
);

const FAULTS: readonly RpcFault[] = [
  { kind: 'dropBefore' },
  { kind: 'dropAfter' },
  { kind: 'stallAfter' },
  { kind: 'rateLimit' },
  { kind: 'serverErrorAfter' },
  { kind: 'garbage' },
  { kind: 'wrongId' },
  { kind: 'answer', result: { nonsense: true } },
  { kind: 'lag', blocks: 1 },
  { kind: 'lag', blocks: 4 },
  { kind: 'delay', ms: 20 },
];

/** Has faults befall a share of all calls, as a seed decides. */
function setFaults(proxy: RpcFaultProxy, { share, seed }: { share: number; seed: number }): void {
  const random = createSeededRandom(seed);
  proxy.setPlan(() => (random() < share ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined));
}

/** Takes the next nonce that the chain would take, behind the sender's back. */
async function sendForeign(rig: SenderRig): Promise<void> {
  const raw = await rig.account.signTransaction({
    type: 'eip1559',
    chainId: rig.anvil.chainId,
    nonce: await rig.accountNonce(),
    to: rig.account.address,
    gas: 21_000n,
    maxFeePerGas: parseGwei('500'),
    maxPriorityFeePerGas: parseGwei('500'),
  });
  // Somebody's transaction may be in its way.
  await rig.anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
}

/** A run: the acts one after the other, then peace until every intent has its outcome. */
function createRun(rig: SenderRig, proxy: RpcFaultProxy) {
  const clock = createFakeClock();
  const wanted: string[] = [];
  let sender: Sender | undefined;
  const open = async () => {
    sender = await rig.open({
      rpcUrl: proxy.url,
      rpcTimeoutMs: 100,
      pollIntervalMs: 5,
      now: clock.now,
      confirmations: CONFIRMATIONS,
    });
    return sender;
  };
  const current = async () => sender ?? (await open());
  const act = {
    async send(count: number) {
      const into = await current();
      const ids = Array.from({ length: count }, (_, i) => `${rig.account.address}-${wanted.length + i}`);
      wanted.push(...ids);
      // Who waits is told, or the sender is closed, or the node failed; what counts is looked at in the end.
      for (const id of ids) into.send(id, markedCall(id)).catch(() => undefined);
    },
    async restart() {
      await sender?.close();
      // Opening asks the node until it answers.
      sender = undefined;
      await open();
    },
  };
  /** On a busy machine even a good node may not answer in time: then nothing was sent, and the caller tries again. */
  async function insist(into: Sender, id: string): Promise<Awaited<ReturnType<Sender['send']>>> {
    for (;;) {
      try {
        return await into.send(id, markedCall(id));
      } catch (error) {
        if ((error as { code?: string }).code !== 'RPC_UNAVAILABLE') throw error;
      }
    }
  }
  async function settle(): Promise<void> {
    proxy.setPlan(() => undefined);
    const into = await current();
    const all = Promise.all(wanted.map((id) => insist(into, id)));
    let isDone = false;
    const done = all.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) {
      await rig.anvil.rpc('evm_mine');
      clock.advance(5_000);
      // The sender looks at each block before the next one comes, or at every other.
      await rig.anvil.rpc('eth_blockNumber');
    }
    const sent = await done;
    expect(sent.map(({ status }) => status)).toEqual(wanted.map(() => 'success'));
    expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(wanted.length);
  }
  return { act, clock, wanted, settle };
}

async function perform(
  rig: SenderRig,
  run: ReturnType<typeof createRun>,
  proxy: RpcFaultProxy,
  act: Act,
): Promise<void> {
  if (act.kind === 'send') return await run.act.send(act.count);
  if (act.kind === 'restart') return await run.act.restart();
  if (act.kind === 'foreign') return await sendForeign(rig);
  if (act.kind === 'faults') return setFaults(proxy, act);
  if (act.kind === 'wait') return run.clock.advance(act.ms);
  if (act.kind === 'pause') return await pause(act.ms);
  if (act.kind === 'forget') return void (await rig.anvil.rpc('anvil_dropAllTransactions'));
  if (act.kind === 'mine') {
    for (let i = 0; i < act.blocks; i++) await rig.anvil.rpc('evm_mine');
    return;
  }
  const head = Number(await rig.anvil.rpc('eth_blockNumber'));
  if (head > act.depth) await rig.anvil.rpc('anvil_reorg', [act.depth, []]);
}

// Shows SEND-1.
test('whatever happens, each intent is mined once', async () => {
  const property = fc.asyncProperty(
    fc.array(acts, { minLength: 5, maxLength: sized({ small: 15, long: 40 }) }),
    async (list) => {
      await using anvil = await startAnvil({ isMiningOff: true });
      await using proxy = await startRpcFaultProxy({ target: anvil.rpcUrl });
      const rig = await createSenderRig(anvil);
      try {
        const run = createRun(rig, proxy);
        for (const act of list) await perform(rig, run, proxy, act);
        await run.settle();
        const mined = await Promise.all(run.wanted.map(rig.countMined));
        expect(mined).toEqual(run.wanted.map(() => 1));
      } finally {
        await rig.dispose();
      }
    },
  );
  await fc.assert(property, { numRuns: sized({ small: 6, long: 150 }), endOnFailure: !isLong });
});
