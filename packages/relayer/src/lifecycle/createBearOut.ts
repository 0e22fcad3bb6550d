import { parseHash, parseQuantity, parseRecord } from '@prism-gateway/rpc';
import type { Sent } from '@prism-gateway/sender';
import { ChainError } from '../chain/chainError.ts';
import type { ChainRpc } from '../chain/createChainRpc.ts';

/** A mined transaction, as far as nodes are compared by it. */
export type MinedTransaction = Pick<Sent, 'txHash' | 'blockNumber' | 'blockHash' | 'status'>;

/**
 * What other nodes say of a mined transaction: it is `true`, `false`, or not `settled` among them yet.
 *
 * @throws nothing: a node without an answer says nothing
 */
export type BearOut = (sent: MinedTransaction) => Promise<Word>;

type Word = 'true' | 'false' | 'unsettled';

/** So many nodes have to agree. */
const MAJORITY = 2;

/** What follows from what nodes have said so far. @param words - undefined of one that says nothing */
function weigh(words: readonly (boolean | undefined)[]): Word {
  const agree = words.filter((word) => word === true).length;
  const differ = words.filter((word) => word === false).length;
  if (agree > differ && (agree >= MAJORITY || differ === 0)) return 'true';
  return differ >= MAJORITY && differ > agree ? 'false' : 'unsettled';
}

/** @returns undefined where the node does not answer, or is not that far */
async function askWitness(rpc: Pick<ChainRpc, 'read'>, sent: MinedTransaction): Promise<boolean | undefined> {
  const { txHash, blockNumber, blockHash, status } = sent;
  try {
    const head = await rpc.read(['eth_blockNumber'], (answer) => parseQuantity(answer, 'block number'));
    if (head < blockNumber) return undefined;
    return await rpc.read(['eth_getTransactionReceipt', txHash], (answer) => {
      if (answer === null) return false;
      const receipt = parseRecord(answer, 'receipt');
      const isSuccess = parseQuantity(receipt.status, 'status') === 1n;
      return parseHash(receipt.blockHash, 'block hash') === blockHash && isSuccess === (status === 'success');
    });
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

/**
 * Makes the question whether nodes agree that a transaction is mined as one of them has said: two have to, and more than say otherwise.
 * Where only one of them answers, it is believed; where there is only one, it is not asked again. A silent node is not waited for once
 * more than half of them say the same.
 *
 * @param witnesses - each node by itself, the one that has said so among them
 * @see docs/specification.md RELAY-20
 */
export function createBearOut(witnesses: readonly Pick<ChainRpc, 'read'>[]): BearOut {
  return async function bearOut(sent) {
    if (witnesses.length < MAJORITY) return 'true';
    const { promise, resolve, reject } = Promise.withResolvers<Word>();
    const words: (boolean | undefined)[] = [];
    const asked = witnesses.map(async (witness) => {
      words.push(await askWitness(witness, sent));
      for (const word of [true, false]) {
        const same = words.filter((each) => each === word).length;
        if (same >= MAJORITY && 2 * same > witnesses.length) resolve(weigh(words));
      }
    });
    Promise.all(asked).then(() => resolve(weigh(words)), reject);
    return await promise;
  };
}
