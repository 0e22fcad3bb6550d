import { creditTokenAbi } from '@prism-gateway/contracts';
import { type Address, concat, createWalletClient, encodeFunctionData, getAddress, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PaymentsRig } from '../../scripts/demo/startPaymentsRig.ts';

/** A stranger with a contract, and no credits. */
export interface Forger {
  /** Sends calldata of the stranger's choice in a transaction that logs a transfer of nothing out of the relayer. */
  send(data: Hex): Promise<Hex>;
}

/** Enough: an estimate would leave the inner call none. */
const GAS = 200_000n;

/** Copies what follows it to memory, and calls a token with that; whatever it is called with. */
const callToken = (token: Address): Hex => concat(['0x6064602960003960006000606460006000', '0x73', token, '0x5af100']);

/**
 * Has a stranger make logs that look like a relayer's: a token takes a transfer of nothing from anybody, in anybody's name.
 *
 * @see EIP-20, transferFrom
 */
export async function startForger(rig: PaymentsRig, relayer: Address): Promise<Forger> {
  const account = privateKeyToAccount(generatePrivateKey());
  const { client } = rig;
  await client.setBalance({ address: account.address, value: 10n ** 18n });
  const { creditToken } = rig.deployment;
  const args = [relayer, account.address, 0n] as const;
  const call = encodeFunctionData({ abi: creditTokenAbi, functionName: 'transferFrom', args });
  const address = getAddress(privateKeyToAccount(generatePrivateKey()).address);
  await client.setCode({ address, bytecode: concat([callToken(creditToken), call]) });
  const wallet = createWalletClient({ account, transport: http(rig.rpcUrl) });
  return {
    async send(data) {
      const hash = await wallet.sendTransaction({ to: address, data, gas: GAS, chain: null });
      const { logs } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
      if (logs.length !== 1) throw new Error('nothing was forged');
      return hash;
    },
  };
}
