import { creditTokenAbi, forwarderAbi } from '@prism-gateway/contracts';
import type { Expected } from '../plan/plan.ts';
import type { Party } from '../world/accounts.ts';
import type { World } from '../world/startWorld.ts';
import { type Checked, checkAll } from './checked.ts';

async function readUser({ chain, deployment }: World, { account }: Party) {
  const { address } = account;
  const [ether, sent, nonce, credits] = await Promise.all([
    chain.getBalance({ address }),
    chain.getTransactionCount({ address }),
    chain.readContract({ address: deployment.forwarder, abi: forwarderAbi, functionName: 'nonces', args: [address] }),
    chain.readContract({
      address: deployment.creditToken,
      abi: creditTokenAbi,
      functionName: 'balanceOf',
      args: [address],
    }),
  ]);
  return { ether, sent, nonce, credits };
}

/**
 * Checks that the users still have no ether, and that nonces and credits are what their requests make of them.
 *
 * @param world - whose chain
 * @param expected - what must be there
 */
export async function checkUsers(world: World, expected: Expected): Promise<readonly Checked[]> {
  const users = await Promise.all(world.users.map((user) => readUser(world, user)));
  const list = (isFault: (user: (typeof users)[number], index: number) => boolean, what: string) =>
    users.flatMap((user, index) => (isFault(user, index) ? [`${world.users[index]?.name} ${what}`] : []));
  const nonces = expected.nonces.reduce((sum, nonce) => sum + nonce, 0n);
  return [
    checkAll({
      claim: 'no user ever had ether or sent a transaction',
      found: `${users.length} users with 0 wei and account nonce 0`,
      faults: list(({ ether, sent }) => ether !== 0n || sent !== 0, 'has ether or has sent something'),
    }),
    checkAll({
      claim: "each user's forwarder nonce is the number of its signatures",
      found: `${nonces} in all`,
      faults: list(({ nonce }, index) => nonce !== expected.nonces[index], 'has another nonce'),
    }),
    checkAll({
      claim: "each user's credits are what it did not put into prisms, and what came back",
      found: `${users.length} balances equal`,
      faults: list(({ credits }, index) => credits !== expected.credits[index], 'has other credits'),
    }),
  ];
}
