import { address, type Environment, httpUrl, privateKey } from '@prism-gateway/runtime/settings';
import * as z from 'zod/mini';
import { chainName, chainsFormat, type GivenChain, rpcUrls } from './chainSettings.ts';

/** Of whoever works for a gateway on some chains: the relayer and the watchtower. */
export const namedChainsFields = {
  GATEWAY_URL: z._default(httpUrl(), 'http://127.0.0.1:8787'),
  RELAYER_PRIVATE_KEY: z.optional(privateKey()),
  RELAYER_KEYSTORE: z.optional(z.string()),
  RELAYER_KEYSTORE_PASSWORD: z.optional(z.string()),
  RELAYER_CHAINS: z.optional(chainsFormat),
  CHAIN_NAME: z.optional(chainName()),
  RPC_URL: z.optional(rpcUrls()),
  FORWARDER_ADDRESS: z.optional(address()),
} as const;

const SINGLE = ['CHAIN_NAME', 'RPC_URL', 'FORWARDER_ADDRESS'] as const;

/** Names what is missing, or too much: chains are named one way or the other. */
export function findChainFaults(given: Environment): readonly string[] {
  const isSingle = given.RELAYER_CHAINS === undefined;
  return SINGLE.filter((name) => (given[name] === undefined) === isSingle).map((name) =>
    isSingle
      ? `${name}: required, unless RELAYER_CHAINS names the chains`
      : `${name}: expected none beside RELAYER_CHAINS, which has its own`,
  );
}

type Named = Pick<z.infer<z.ZodMiniObject<typeof namedChainsFields>>, 'RELAYER_CHAINS' | (typeof SINGLE)[number]>;

/** The chains that were named, whichever way. */
export function listChains(settings: Named): readonly GivenChain[] {
  const { RELAYER_CHAINS: chains, CHAIN_NAME: name, RPC_URL: rpcUrl, FORWARDER_ADDRESS: forwarder } = settings;
  if (chains !== undefined) return chains;
  return name && rpcUrl && forwarder ? [{ chainName: name, rpcUrl, forwarder, fromBlock: 0 }] : [];
}

/** Names a chain that stands twice. */
export function findRepeatedChains(settings: Named): readonly string[] {
  const names = listChains(settings).map((chain) => chain.chainName);
  return new Set(names).size < names.length ? ['RELAYER_CHAINS: expected each chainName once'] : [];
}
