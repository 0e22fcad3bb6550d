/**
 * Reads the chain's id out of its name, if the name tells it, as `eip155:8453` does.
 *
 * @returns undefined of any other name
 * @see https://chainagnostic.org/CAIPs/caip-2
 */
export function namedChainId(chainName: string): number | undefined {
  const digits = /^eip155:([1-9][0-9]{0,15})$/.exec(chainName)?.[1];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}
