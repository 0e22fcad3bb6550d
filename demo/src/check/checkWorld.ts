import { cloudAbi, creditTokenAbi, forwarderAbi } from '@prism-gateway/contracts';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hexToString } from 'viem/utils';
import type { Expected, ExpectedPrism } from '../plan/createPlanner.ts';
import type { Played } from '../playRequests.ts';
import { type DemoWorld, type Party, WORLD } from '../startDemoWorld.ts';
import { checkExecutions } from './checkExecutions.ts';
import { type Checked, checkAll } from './checked.ts';
import { checkFees, type Earnings } from './checkFees.ts';
import { type Execution, readExecutions } from './readExecutions.ts';

/** The result of the demo. */
export interface Findings {
  readonly executions: readonly Execution[];
  readonly earnings: readonly Earnings[];
  /** Credits in base units. */
  readonly treasury: bigint;
  readonly checks: readonly Checked[];
}

const WHOLE_BPS = 10_000n;

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

async function readCredits({ chain, world }: DemoWorld, owner: Address): Promise<bigint> {
  const place = { address: world.deployment.creditToken, abi: creditTokenAbi, functionName: 'balanceOf' } as const;
  return await chain.readContract({ ...place, args: [owner] });
}

/** Has the cloud contract pay out what the relayers' requests have earned, to them and to the treasury. Anyone may ask for it. */
async function payOutEarnings({ world, chain, relayers }: DemoWorld): Promise<void> {
  const account = privateKeyToAccount(world.sponsorKey);
  const wallet = createWalletClient({ account, transport: http(world.devnet.rpcUrl) });
  const call = { address: world.deployment.cloud, abi: cloudAbi, functionName: 'payOutEarnings', chain: null } as const;
  for (const relayer of [relayers.official, relayers.other]) {
    const hash = await wallet.writeContract({ ...call, args: [relayer.account.address] });
    await chain.waitForTransactionReceipt({ hash });
  }
}

async function readEarnings(demo: DemoWorld, party: Party, executions: readonly Execution[]): Promise<Earnings> {
  const { address } = party.account;
  const isOfficial = party === demo.relayers.official;
  const own = executions.filter(({ events }) => events[0]?.relayer === address);
  const byTransaction = Map.groupBy(own, ({ receipt }) => receipt?.transactionHash);
  const fees = [...byTransaction.values()].map((carried) =>
    sum(carried.flatMap(({ events }) => events).map(({ relayerFee }) => relayerFee)),
  );
  const [credits, ether] = await Promise.all([readCredits(demo, address), demo.chain.getBalance({ address })]);
  // Rounded down a transaction, as the Forwarder does.
  const shareOf = (fee: bigint) => (isOfficial ? fee : (fee * BigInt(WORLD.relayerShareBps)) / WHOLE_BPS);
  return {
    name: party.name,
    isOfficial,
    requests: own.length,
    transactions: byTransaction.size,
    fees: sum(fees),
    share: sum(fees.map(shareOf)),
    credits,
    spent: WORLD.etherPerRelayer - ether,
    worth: credits / WORLD.creditsPerEth,
  };
}

async function findEntryFault(
  { chain, world }: DemoWorld,
  { cloudId, dataId, payload }: { readonly cloudId: Hex; readonly dataId: Hex; readonly payload: Hex | undefined },
): Promise<string | undefined> {
  const place = { address: world.deployment.cloud, abi: cloudAbi, args: [cloudId, dataId] } as const;
  const has = await chain.readContract({ ...place, functionName: 'hasData' });
  if (payload === undefined) return has ? `entry ${dataId} of ${cloudId} is still there` : undefined;
  const found = has ? await chain.readContract({ ...place, functionName: 'dataOf' }) : 'nothing';
  return found === payload ? undefined : `entry ${dataId} of ${cloudId} holds ${found}`;
}

async function findPrismFault({ chain, world }: DemoWorld, prism: ExpectedPrism): Promise<string | undefined> {
  const { cloudId, owner, balance, deleted } = prism;
  const place = { address: world.deployment.cloud, abi: cloudAbi, functionName: 'prisms', args: [cloudId] } as const;
  const found = await chain.readContract(place);
  const [foundOwner, , foundBalance, foundDeleted] = found;
  const isOwned = deleted || foundOwner === owner;
  const isRight = isOwned && foundBalance === balance && foundDeleted === deleted;
  return isRight ? undefined : `prism ${cloudId} is ${found.join(', ')} instead of ${owner}, ${balance}, ${deleted}`;
}

async function checkData(demo: DemoWorld, expected: Expected): Promise<readonly Checked[]> {
  const prisms = [...expected.prisms.values()];
  const entries = prisms.flatMap(({ cloudId, entries: held, deleted }) =>
    [...held].map(([dataId, payload]) => ({ cloudId, dataId, payload: deleted ? undefined : payload })),
  );
  const entryFaults = await Promise.all(entries.map((entry) => findEntryFault(demo, entry)));
  const prismFaults = await Promise.all(prisms.map((prism) => findPrismFault(demo, prism)));
  const present = entries.flatMap(({ payload }) => payload ?? []);
  const newest = present.at(-1);
  const sample = newest === undefined ? '' : `, such as "${hexToString(newest)}"`;
  return [
    checkAll({
      claim: 'the data on the chain are what was signed',
      found: `${present.length} entries equal${sample}; ${entries.length - present.length} removed ones gone`,
      faults: entryFaults.filter((fault) => fault !== undefined),
    }),
    checkAll({
      claim: 'each prism has its owner and its balance',
      found: `${prisms.length} prisms, ${prisms.filter(({ deleted }) => deleted).length} of them deleted`,
      faults: prismFaults.filter((fault) => fault !== undefined),
    }),
  ];
}

async function checkUsers(demo: DemoWorld, expected: Expected): Promise<readonly Checked[]> {
  const { chain, world } = demo;
  const nonces = { address: world.deployment.forwarder, abi: forwarderAbi, functionName: 'nonces' } as const;
  const users = await Promise.all(
    demo.users.map(async ({ name, account: { address } }, index) => ({
      name,
      index,
      ether: await chain.getBalance({ address }),
      sent: await chain.getTransactionCount({ address }),
      nonce: await chain.readContract({ ...nonces, args: [address] }),
      credits: await readCredits(demo, address),
    })),
  );
  const list = (isFault: (user: (typeof users)[number]) => boolean, what: string) =>
    users.filter(isFault).map(({ name }) => `${name} ${what}`);
  return [
    checkAll({
      claim: 'no user ever had ether or sent a transaction',
      found: `${users.length} users with 0 wei and account nonce 0`,
      faults: list(({ ether, sent }) => ether !== 0n || sent !== 0, 'has ether or has sent something'),
    }),
    checkAll({
      claim: "each user's forwarder nonce is the number of its signatures",
      found: `${sum(expected.nonces)} in all`,
      faults: list(({ nonce, index }) => nonce !== expected.nonces[index], 'has another nonce'),
    }),
    checkAll({
      claim: "each user's credits are what it did not put into prisms, and what came back",
      found: `${users.length} balances equal`,
      faults: list(({ credits, index }) => credits !== expected.credits[index], 'has other credits'),
    }),
  ];
}

/**
 * Reads everything back from the chain, and compares it with what was signed.
 *
 * @param demo - whose chain and gateway
 * @param played - what was planned and submitted, what the gateway says of it, and the crash
 */
export async function checkWorld(demo: DemoWorld, { plan, submitted, tally, crash }: Played): Promise<Findings> {
  const { expected } = plan;
  const executions = await readExecutions(demo, { submitted, records: tally.records });
  await payOutEarnings(demo);
  const { official, other } = demo.relayers;
  const earnings = await Promise.all([official, other].map((party) => readEarnings(demo, party, executions)));
  const treasury = await readCredits(demo, demo.world.deployment.treasury);
  const crashed: Checked = {
    claim: 'relayer A was killed and started again',
    found: crash.isOver ? 'SIGKILL, then the same journal' : 'it was not',
    isTrue: crash.isOver,
  };
  const checks = [
    ...checkExecutions(executions, crash.held),
    crashed,
    ...(await checkData(demo, expected)),
    ...(await checkUsers(demo, expected)),
    ...checkFees({ earnings, treasury, expected }),
  ];
  return { executions, earnings, treasury, checks };
}
