import { type NodeClient, readNumber, readRefusal } from './askNode.ts';

/** What a fifth of the gas of each of the last twenty blocks has paid at most: what relayers ask for. */
const TIP_HISTORY = ['0x14', 'latest', [20]] as const;

/** What was usual in the last blocks. @returns undefined where all of them are empty, or the answer cannot be read */
function findUsual(history: unknown): bigint | undefined {
  const { reward, gasUsedRatio } = Object(history);
  if (!Array.isArray(reward) || !Array.isArray(gasUsedRatio)) return undefined;
  try {
    const tips = reward
      .filter((_, index) => Number(gasUsedRatio[index]) > 0)
      .map((percentiles) => readNumber(Object(percentiles)[0]))
      .sort((one, other) => (one < other ? -1 : 1));
    return tips[Math.floor((tips.length - 1) / 2)];
  } catch {
    return undefined;
  }
}

/** @returns undefined of a node that does not know the call */
async function readHistory(client: NodeClient): Promise<unknown> {
  try {
    return await client.request({ method: 'eth_feeHistory', params: TIP_HISTORY });
  } catch (error) {
    if (readRefusal(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * Reads what is to be offered beyond the base fee as relayers do: what the node suggests, but no more than was usual in the last blocks.
 * A suggestion that is made from one block alone is whatever the last one who sent a transaction wanted it to be.
 *
 * @returns wei for a unit of gas
 * @throws what the client throws; FeeQuoteError NODE_ANSWER
 * @see docs/specification.md NODE-2
 */
export async function readTip(client: NodeClient): Promise<bigint> {
  const [suggested, history] = await Promise.all([
    client.request({ method: 'eth_maxPriorityFeePerGas', params: [] }),
    readHistory(client),
  ]);
  const [tip, usual] = [readNumber(suggested), findUsual(history)];
  return usual !== undefined && usual < tip ? usual : tip;
}
