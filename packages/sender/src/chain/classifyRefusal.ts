import { RpcAnswerError } from '@prism-gateway/node/rpc';

/**
 * Why a node did not take a transaction.
 *
 * - `known`: it has it already
 * - `nonceUsed`: the chain is past this nonce: by a version of ours, or by a foreign transaction
 * - `underpriced`: the fees are too low for the pool, the block, or to replace what is there
 * - `funds`: the account cannot pay for it
 * - `invalid`: it can never be mined as it stands
 * - `unknown`: nothing is known; it may have been taken
 */
export type Refusal = 'known' | 'nonceUsed' | 'underpriced' | 'funds' | 'invalid' | 'unknown';

/** The words of geth, reth, Nethermind, Erigon, Besu and Anvil; JSON-RPC has no codes for them. The first match counts. */
const WORDS: readonly (readonly [RegExp, Refusal])[] = [
  [/already known|already imported|alreadyknown|known transaction|already in (the )?(mem)?pool/i, 'known'],
  [/nonce too low|nonce is too low|oldnonce|nonce_too_low|invalid nonce/i, 'nonceUsed'],
  [
    /underpriced|fee too low|feetoolow|max fee per gas less than block base fee|gas price (is )?below|replacement/i,
    'underpriced',
  ],
  [/insufficient funds|insufficient balance|insufficientfunds|upfront cost exceeds/i, 'funds'],
  [/intrinsic gas too (low|high)|exceeds block gas limit|gas limit (is )?too high|gaslimitexceeded/i, 'invalid'],
  [/gas limit reached|exceeds (the )?maximum|transaction gas limit too high/i, 'invalid'],
  [
    /oversized data|max initcode|initcode size|invalid chain id|transaction type not supported|invalid sender/i,
    'invalid',
  ],
];

/**
 * Reads why a node did not take a transaction.
 *
 * @returns the reason; `unknown` for whatever is not a clear word of the node
 */
export function classifyRefusal(error: unknown): Refusal {
  if (!(error instanceof RpcAnswerError)) return 'unknown';
  return WORDS.find(([words]) => words.test(error.message))?.[1] ?? 'unknown';
}
