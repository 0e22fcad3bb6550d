import { hash } from 'node:crypto';
import { type DigestSettings, type EvaluationSetting, listReasons, ruleOf } from '../checks/leaveReasons.ts';
import type { ChainSettings } from './chainSettings.ts';
import type { RelayPolicy } from './settings.ts';

interface From {
  readonly policy: RelayPolicy;
  readonly chain: ChainSettings;
}

const VALUES = {
  ACTIONS: ({ policy }) => [...policy.actions].toSorted(),
  CREDITS_PER_ETH: ({ chain }) => chain.creditsPerEth,
  FEE_MARGIN_PERCENT: ({ policy }) => policy.feeMarginPercent,
  MAX_FEE_GWEI: ({ chain }) => chain.maxFeePerGas,
  CONFIRMATIONS: ({ chain }) => chain.confirmations ?? null,
  MAX_SPONSOR_CREDITS: ({ policy }) => policy.maxSponsorCredits,
  UNKNOWN_WALLETS: ({ policy }) => policy.unknownWallets,
  UNKNOWN_WALLET_MARGIN_PERCENT: ({ policy }) => policy.unknownWalletMarginPercent,
  'the loss budgets': ({ policy }) => Object.values(policy.lossLimits),
} as const satisfies Record<EvaluationSetting, (from: From) => unknown>;

/** Makes the digests of what verdicts rest on, of a relayer's settings on one chain. */
export function createSettingsDigest(from: From): DigestSettings {
  const write = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const digests = new Map(
    listReasons().map((reason) => {
      const values = (ruleOf(reason).settings ?? []).map((name) => VALUES[name](from));
      return [reason, hash('sha1', JSON.stringify(values, write), 'base64')];
    }),
  );
  // Each reason has one.
  return (reason) => digests.get(reason) ?? '';
}
