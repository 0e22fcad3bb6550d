import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import { payoutsBytecode } from '@prism-gateway/contracts/bytecode';
import { type Address, createWalletClient, custom, getAddress, isAddressEqual } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { isCallRefused } from '../chain/isCallRefused.ts';
import { hashFrontendId } from '../payerConfig.ts';
import type { Settings } from '../settings/settings.ts';
import { openNode, toUnreachedNode } from './openNode.ts';
import { UsageError } from './parseWords.ts';

/** Decimals of a credit token. */
const CREDIT_DECIMALS = 18;
/** For how long the transaction is waited for, in milliseconds. */
const MINED_WITHIN_MS = 600_000;

/**
 * Deploys the contract `Payouts`.
 *
 * @param settings - node, credit token, frontend, who may pay (`RELAYER_ADDRESSES`), and the key that pays for it
 * @param owner - who may change the payers; absent: the key's own address
 * @throws UsageError if nobody may pay, the key is an instance's own, or the token is no credit token; viem's errors
 * @see docs/payments.md, "Install it"
 */
export async function deployPayouts(settings: Settings<'deploy-payouts'>, owner?: Address): Promise<Address> {
  const { RELAYER_ADDRESSES: payers, CREDIT_TOKEN_ADDRESS: creditToken } = settings;
  // The schema has checked the key's digits.
  const account = privateKeyToAccount(settings.PAYOUTS_DEPLOYER_PRIVATE_KEY as `0x${string}`);
  if (payers.length === 0) throw new UsageError('RELAYER_ADDRESSES: name every address that may pay.');
  if (payers.some((payer) => isAddressEqual(payer, account.address)))
    throw new UsageError(
      'PAYOUTS_DEPLOYER_PRIVATE_KEY: expected another key than an instance has; what is sent by hand from that one stops its payouts.',
    );
  const { client } = await openNode(settings);
  const token = { address: creditToken, abi: creditTokenAbi, functionName: 'decimals' } as const;
  const decimals = await client.readContract(token).catch((error: unknown) => {
    if (isCallRefused(error)) return undefined;
    throw toUnreachedNode(error);
  });
  if (decimals !== CREDIT_DECIMALS)
    throw new UsageError(`CREDIT_TOKEN_ADDRESS: expected a token with ${CREDIT_DECIMALS} decimals.`);
  const wallet = createWalletClient({ account, transport: custom(client, { retryCount: 0 }) });
  const args = [owner ?? account.address, creditToken, hashFrontendId(settings.FRONTEND_ID), payers] as const;
  const hash = await wallet.deployContract({ abi: payoutsAbi, bytecode: payoutsBytecode, args, chain: null });
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: MINED_WITHIN_MS });
  if (receipt.status !== 'success' || !receipt.contractAddress)
    throw new UsageError(`The transaction ${hash} was reverted; look at the key's ether.`);
  return getAddress(receipt.contractAddress);
}
