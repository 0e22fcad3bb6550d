import { parseArray, parseQuantity, parseRecord } from '../answers/parseAnswers.ts';

/** Params of `eth_feeHistory`: the highest tip of the cheapest fifth of the gas, in each of the last twenty blocks. */
export const TIP_HISTORY = ['0x14', 'latest', [20]] as const;

/**
 * Chooses what to offer beyond the base fee: what the node suggests, but no more than what was usual in the last blocks. A suggestion that is
 * made from one block alone is whatever the last one who sent a transaction wanted it to be.
 *
 * @param suggested - in wei
 * @param history - the answer to `eth_feeHistory`, asked with `TIP_HISTORY`
 * @returns the suggestion if all of the blocks are empty
 * @throws RpcUnavailableError if the history cannot be read
 * @see https://github.com/ethereum/execution-apis
 */
export function chooseTip(suggested: bigint, history: unknown): bigint {
  const { reward, gasUsedRatio } = parseRecord(history, 'fee history');
  const used = parseArray(gasUsedRatio, 'used gas');
  // A node that prunes its history may leave the rewards out.
  const rewards = reward == null ? [] : parseArray(reward, 'rewards');
  const tips = rewards
    .filter((_, index) => Number(used[index]) > 0)
    .map((percentiles) => parseQuantity(parseArray(percentiles, 'percentiles')[0], 'reward'))
    .toSorted((one, other) => (one < other ? -1 : 1));
  const usual = tips[Math.floor((tips.length - 1) / 2)];
  return usual !== undefined && usual < suggested ? usual : suggested;
}
