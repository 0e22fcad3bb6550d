import type { Hex } from 'viem';
import { type NodeClient, readNumber, readRefusal } from './askNode.ts';
import { FeeQuoteError } from './feeQuoteError.ts';

/**
 * What a contract wallet would answer that says yes to every question (ERC-1271): it stands at the signer's address while a call is
 * simulated that nobody has signed yet.
 */
const SAYS_YES: Hex = '0x631626ba7e60e01b60005260206000f3';
/** Gas by which the question to that wallet exceeds the check of a key's signature, which is made first in any case. */
const DETOUR_GAS = 3_380n;
/** What a contract wallet's check usually uses: a proxy and one owner's signature. */
const USUAL_WALLET_GAS = 30_000n;
/** Code of an account that has a key still. @see https://eips.ethereum.org/EIPS/eip-7702 */
const DELEGATION = '0xef0100';
/** A revert, and what nodes say that know no `eth_simulateV1` or no state overrides in it. */
const REVERTED = 3;

interface SimulatedCall {
  readonly from: string;
  readonly to: string;
  readonly data: Hex;
}

/** The gas of a mined transaction; a node that does not simulate blocks estimates it, never lower. */
async function simulate(client: NodeClient, { call, signer }: { call: SimulatedCall; signer: string }) {
  const stateOverrides = { [signer]: { code: SAYS_YES } };
  try {
    const blockStateCalls = [{ stateOverrides, calls: [call] }];
    const blocks = await client.request({ method: 'eth_simulateV1', params: [{ blockStateCalls }, 'latest'] });
    const { status, gasUsed, returnData } = Object(Object(blocks)[0]?.calls?.[0]);
    if (readNumber(status) === 1n) return readNumber(gasUsed);
    throw new FeeQuoteError('ACTION_REVERTS', { data: String(returnData) });
  } catch (error) {
    if (error instanceof FeeQuoteError || readRefusal(error) === undefined) throw error;
    return readNumber(await client.request({ method: 'eth_estimateGas', params: [call, 'latest', stateOverrides] }));
  }
}

/**
 * Estimates what gas a relayer's transaction with one action uses, before anything is signed.
 *
 * @param question.call - with any signature in its calldata
 * @param question.signer - in whose name
 * @param question.walletGas - what a contract wallet's own check uses; default 30,000, and nothing for an account with a key
 * @throws FeeQuoteError ACTION_REVERTS, NODE_ANSWER; and what the client throws
 */
export async function estimateActionGas(
  client: NodeClient,
  question: { readonly call: SimulatedCall; readonly signer: string; readonly walletGas?: bigint | undefined },
): Promise<bigint> {
  const { call, signer, walletGas = USUAL_WALLET_GAS } = question;
  try {
    const [code, gas] = await Promise.all([
      client.request({ method: 'eth_getCode', params: [signer, 'latest'] }),
      simulate(client, { call, signer }),
    ]);
    const hasKey = code === '0x' || String(code).startsWith(DELEGATION);
    return hasKey ? gas - DETOUR_GAS : gas + walletGas;
  } catch (error) {
    const refusal = readRefusal(error);
    if (refusal?.code !== REVERTED) throw error;
    throw new FeeQuoteError('ACTION_REVERTS', { cause: error, ...(refusal.data && { data: refusal.data }) });
  }
}
