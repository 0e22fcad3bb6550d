import { payoutsAbi } from '@prism-gateway/contracts';
import { type Address, type Hex, type PublicClient, zeroAddress } from 'viem';
import type { PlacedMark } from '../journal/createMarkTable.ts';
import { StepError } from '../StepError.ts';

/** Part of a range that is asked for next where a node does not answer for the whole: each limits blocks in its own words. */
const SMALLER = 4;

/**
 * Asks the contract `Payouts` who has paid a mark, with which transaction, and where.
 *
 * @param wanted - the contract, the mark, and the block that its first payout is not before
 * @returns the payout, by whichever payer; undefined where nobody has paid
 * @throws StepError `CHAIN_UNAVAILABLE` where the contract says that it is paid and the logs do not show it; viem's errors
 * @see docs/payments.md, "Several instances"
 */
export async function findPaid(wanted: {
  readonly client: PublicClient;
  readonly payouts: Address;
  readonly mark: Hex;
  readonly fromBlock: number;
}): Promise<PlacedMark | undefined> {
  const { client, payouts: address, mark } = wanted;
  const read = { address, abi: payoutsAbi, functionName: 'payerOf', args: [mark] } as const;
  if ((await client.readContract(read)) === zeroAddress) return undefined;
  const fromBlock = BigInt(wanted.fromBlock);
  let last = await client.getBlockNumber({ cacheTime: 0 });
  let range = last - fromBlock + 1n;
  while (last >= fromBlock) {
    const first = last - range + 1n > fromBlock ? last - range + 1n : fromBlock;
    try {
      const event = { address, abi: payoutsAbi, eventName: 'Paid', args: { mark }, strict: true } as const;
      const [paid] = await client.getContractEvents({ ...event, fromBlock: first, toBlock: last });
      if (paid !== undefined) {
        const { transactionHash: txHash, blockNumber, transactionIndex, args } = paid;
        // Lower case of an address is an address.
        const [sender, recipient] = [args.payer.toLowerCase() as Address, args.wallet.toLowerCase() as Address];
        const place = { blockNumber: Number(blockNumber), txIndex: transactionIndex };
        return { txHash, sender, kind: 'payout', mark, recipient, amount: args.amount, ...place };
      }
      last = first - 1n;
    } catch (error) {
      if (first === last) throw error;
      range = (last - first) / BigInt(SMALLER) + 1n;
    }
  }
  throw new StepError(
    'CHAIN_UNAVAILABLE',
    'The contract Payouts says that it is paid, and the logs from SEARCH_FROM_BLOCK on do not show it.',
  );
}
