import {
  type ContractFunctionParameters,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  HttpRequestError,
  type PublicClient,
} from 'viem';
import { isCallRefused } from './isCallRefused.ts';

/** For each read the amount, or undefined if the contract lacks the function, or refuses it. */
export type Amounts<Reads extends readonly unknown[]> = { readonly [Place in keyof Reads]: bigint | undefined };

/** The result of one contract's read, as viem gives it. */
interface Result {
  readonly error?: Error | undefined;
  readonly result?: unknown;
}

function hasCause(error: unknown, kinds: readonly (abstract new (...parts: never[]) => Error)[]): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (kinds.some((kind) => at instanceof kind)) return true;
  return false;
}

/** The answer of one contract out of a call that was answered. */
function takeResult({ error, result }: Result): unknown {
  if (error === undefined) return result;
  if (hasCause(error, [ContractFunctionRevertedError, ContractFunctionZeroDataError])) return undefined;
  throw error;
}

async function readAlone(client: PublicClient, read: ContractFunctionParameters): Promise<unknown> {
  try {
    return await client.readContract(read);
  } catch (error) {
    if (isCallRefused(error)) return undefined;
    throw error;
  }
}

async function readAll(client: PublicClient, contracts: readonly ContractFunctionParameters[]) {
  const results = await client.multicall({ contracts, deployless: true, batchSize: 0 });
  const [first] = results;
  // One error for all: no contract was asked.
  const isAnswered = first?.error === undefined || results.some(({ error }) => error !== first.error);
  if (isAnswered) return results.map(takeResult);
  if (hasCause(first.error, [HttpRequestError])) throw first.error;
  return await Promise.all(contracts.map((read) => readAlone(client, read)));
}

/**
 * Reads amounts of contracts in one call, so that all are of one block. A node that does not take a call without an address is asked for
 * each by itself.
 *
 * @param reads - two or more functions that return a uint256: address, ABI, name, arguments
 * @returns the amounts, in the order of the reads
 * @throws viem's errors if the node does not answer
 */
export async function readAmounts<const Reads extends readonly ContractFunctionParameters[]>(
  client: PublicClient,
  reads: Reads,
): Promise<Amounts<Reads>> {
  const amounts = await readAll(client, reads);
  for (const amount of amounts)
    if (amount !== undefined && typeof amount !== 'bigint') throw new TypeError('a function returns no uint256');
  // One answer for each read, and each a bigint or undefined.
  return amounts as unknown as Amounts<Reads>;
}
