import { type Address, getAddress, isAddress } from 'viem';

/** One chain whose accounts are watched. */
export interface GasTarget {
  /** How alerts call the chain. */
  readonly name: string;
  readonly rpcUrl: string;
  readonly addresses: readonly Address[];
}

/**
 * Reads `GAS_MONITOR_TARGETS`: `name=rpcUrl|address|address` with commas between chains.
 *
 * @param text - the setting
 * @returns the chains, or undefined where the text is none of that
 */
export function parseGasTargets(text: string): readonly GasTarget[] | undefined {
  const targets: GasTarget[] = [];
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const match = /^([A-Za-z0-9_.-]{1,64})=([^|]+)((?:\|0x[0-9a-fA-F]{40})+)$/.exec(part);
    const [, name, rpcUrl, rest] = match ?? [];
    if (name === undefined || rpcUrl === undefined || rest === undefined) return undefined;
    const addresses = rest.slice(1).split('|');
    const usable = URL.canParse(rpcUrl) && /^https?:$/.test(new URL(rpcUrl).protocol);
    if (!usable || !addresses.every((item) => isAddress(item))) return undefined;
    targets.push({ name, rpcUrl, addresses: addresses.map((item) => getAddress(item)) });
  }
  return targets;
}
