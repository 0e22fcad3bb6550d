import { encodeApproval, encodePayout, type PaymentsRig } from '@prism-gateway/payments/demo';
import { type Address, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const CREDITS = 10n ** 18n;

/** Measures what a payout to a wallet without credits takes, each way. */
export async function measurePayoutGas(
  rig: PaymentsRig,
): Promise<{ readonly plain: number; readonly contract: number }> {
  const key = await rig.fundKey();
  const { creditToken } = rig.deployment;
  const payouts = await rig.deployPayouts([key.address]);
  await rig.giveCredits(key.address, 10n * CREDITS);
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  const send = async (call: { readonly to: Address; readonly data: Hex }) => {
    const hash = await wallet.sendTransaction({ ...call, chain: null });
    return Number((await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 })).gasUsed);
  };
  const payout = (paymentIntentId: string, walletAddress: Address, through?: Address) =>
    send(encodePayout({ creditToken, payouts: through, paymentIntentId, walletAddress, credits: CREDITS }));
  await send(encodeApproval({ token: creditToken, spender: payouts }));
  return {
    plain: await payout('gas_1', '0x00000000000000000000000000000000000000c1'),
    contract: await payout('gas_2', '0x00000000000000000000000000000000000000c2', payouts),
  };
}
