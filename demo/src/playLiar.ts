import { setTimeout as pause } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { createAdminClient, createRelayerClient } from '@prism-gateway/sdk';
import { createTestClient, http, numberToHex } from 'viem';
import type { Checked } from './check/checked.ts';
import type { Expected } from './plan/createPlanner.ts';
import { quoteFee } from './plan/quoteFee.ts';
import { type DemoWorld, indexOf, type Party, WORLD } from './startDemoWorld.ts';
import { createClientOf } from './submitPlan.ts';

const FEE = quoteFee({ action: 'WRITE_DATA_FOR', entries: 1 });
/** How far ahead the victims' requests are dated, in seconds: until then only a relayer that never meant to submit claims them. */
const AHEAD_SECONDS = 3n;
/** A transaction that never was. */
const INVENTED = `0x${'5c'.repeat(32)}`;
/** How long the honest ones may take with what the liar has left, in milliseconds. */
const TIMEOUT_MS = 60_000;
const PAUSE_MS = 200;

interface LiarOptions {
  readonly demo: DemoWorld;
  /** The current state of the chain: the victims are owners of a prism that can pay. */
  readonly expected: Expected;
  /** Takes each line of the output. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

type Victim = ReturnType<typeof listVictims>[number];

/** Two users with a prism that pays for a write. */
function listVictims({ demo, expected }: LiarOptions): readonly { party: Party; cloudId: `0x${string}` }[] {
  const rich = [...expected.prisms.values()].filter(
    ({ deleted, balance }) => !deleted && balance > FEE + WORLD.protocolFee,
  );
  const victims = demo.users.flatMap((party) => {
    const prism = rich.find(({ owner }) => owner === party.account.address);
    return prism === undefined ? [] : [{ party, cloudId: prism.cloudId }];
  });
  return victims.slice(0, 2);
}

/** A victim's write, which the liar has claimed before anybody else can submit it. */
async function baitLiar({ demo }: LiarOptions, { party, cloudId }: Victim) {
  const timestamp = BigInt(Math.floor(Date.now() / 1000)) + AHEAD_SECONDS;
  const entry = { dataId: numberToHex(0xbad, { size: 32 }), payload: '0x6c6965' } as const;
  const user = createClientOf(demo, party);
  const { requestId } = await user.writeData({ cloudId, ...entry, relayerFee: FEE, timestamp });
  const relayer = createRelayerClient({ gateway: demo.world.client, account: demo.relayers.liar.account });
  await relayer.claim(requestId);
  return { requestId, relayer, signer: party.account.address };
}

/** Waits, with a block at each look: on this chain there are none unless somebody sends something. */
async function waitFor<T>({ demo, signal }: LiarOptions, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const chain = createTestClient({ mode: 'anvil', transport: http(demo.world.devnet.rpcUrl) });
  const until = performance.now() + TIMEOUT_MS;
  while (performance.now() < until) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await chain.mine({ blocks: 1 });
    await pause(PAUSE_MS, undefined, { signal });
  }
  return undefined;
}

/**
 * Lets a third relayer lie: it reports a request as done that it never carried out, and sits on another one. The watchtower finds it, has it
 * suspended, and its victims' requests succeed with others.
 *
 * @param options - see each field
 * @returns what was compared
 * @throws DemoError, GatewayError
 */
export async function playLiar(options: LiarOptions): Promise<readonly Checked[]> {
  const { demo, print } = options;
  const { client: gateway, gateway: running } = demo.world;
  const { liar, watchtower } = demo.relayers;
  const admin = createAdminClient({ gateway, adminKey: running.adminKey });
  const env = { POLL_MS: '200' };
  const tower = await demo.world.startWatchtower({ index: indexOf('watchtower'), title: watchtower.name, env });
  // It accuses nobody of what was before its first look.
  await waitFor(options, async () => (await tower.readMetric('prism_watchtower_looks_total')) || undefined);
  const [first, second] = listVictims(options);
  if (first === undefined || second === undefined) return [];
  const held = await baitLiar(options, second);
  const bait = await baitLiar(options, first);
  await bait.relayer.reportSuccess(bait.requestId, INVENTED);
  print('relayer C, the liar: one request reported as done that is not, and one held');
  const isDone = ({ status, claimedBy }: RequestRecord) =>
    status === 'success' && claimedBy?.toLowerCase() !== liar.account.address.toLowerCase();

  const suspended = await waitFor(options, async () => {
    const { relayers } = await admin.listRelayers();
    return relayers.find(
      ({ address, suspendReason }) => address === liar.account.address && suspendReason !== undefined,
    );
  });
  if (suspended !== undefined) print(`the watchtower has it suspended: ${suspended.suspendReason}`);
  const released = await waitFor(options, async () => {
    const record = await gateway.getRequest(held.requestId);
    return isDone(record) ? record : undefined;
  });
  const postedAgain = await waitFor(options, async () => {
    const { items } = await gateway.listRequests({ signer: bait.signer, order: 'desc', limit: 1 }).page();
    return items.find((record) => record.requestId !== bait.requestId && isDone(record));
  });
  return [
    {
      claim: 'a relayer that lies is found and suspended',
      found: suspended?.suspendReason ?? 'it was not',
      isTrue: suspended !== undefined,
    },
    {
      claim: 'what the liar held, and what it falsely reported, succeeded with others',
      found: `${[released, postedAgain].filter((record) => record !== undefined).length} of 2`,
      isTrue: released !== undefined && postedAgain !== undefined,
    },
  ];
}
