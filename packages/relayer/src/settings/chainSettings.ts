import {
  address,
  decimalAmount,
  type Environment,
  expected,
  httpUrl,
  listOf,
  privateKey,
  type SettingValues,
  setting,
  wholeNumber,
} from '@prism-gateway/node/settings';
import * as z from 'zod/mini';

/** Highest chain id that is still an exact number. */
const MAX_CHAIN_ID = Number.MAX_SAFE_INTEGER;

/** Takes a JSON number or its text alike. */
function orNumber<T extends z.ZodMiniType>(format: T) {
  return z.pipe(
    z.transform((value: unknown) => (typeof value === 'number' ? String(value) : value)),
    format,
  );
}

const rateError = expected('a positive decimal number, with at most 18 digits after the point');

/** A positive decimal number, read as 18-decimal fixed point: "0.5" is 5 × 10^17. */
const rate = () => z.pipe(decimalAmount(18), z.bigint().check(z.gte(1n, rateError)));

const nameError = expected('1 to 64 of letters, digits and ". _ : -", beginning with a letter or digit');

/** The gateway's name of a chain. */
export const chainName = () => z.string(nameError).check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, nameError));

/** Nodes of one chain, the first one first. */
export function rpcUrls() {
  return listOf(httpUrl()).check(z.minLength(1, expected('at least one http or https URL')));
}

/** Settings of each chain; a chain without its own takes the general one. */
export const chainFields = {
  CREDITS_PER_ETH: rate(),
  MAX_FEE_GWEI: rate(),
  MAX_IN_FLIGHT: wholeNumber(1, 10_000),
  MAX_BATCH_SIZE: wholeNumber(1, 500),
  CONFIRMATIONS: wholeNumber(1, 1000),
} as const;

const chainSchema = z.strictObject(
  {
    chainName: chainName(),
    rpcUrl: rpcUrls(),
    forwarder: address(),
    chainId: z.optional(z.int(expected('a whole number')).check(z.gte(1), z.lte(MAX_CHAIN_ID))),
    fromBlock: z._default(z.int(expected('a whole number')).check(z.gte(0)), 0),
    creditsPerEth: z.optional(orNumber(chainFields.CREDITS_PER_ETH)),
    maxFeeGwei: z.optional(orNumber(chainFields.MAX_FEE_GWEI)),
    maxInFlight: z.optional(orNumber(chainFields.MAX_IN_FLIGHT)),
    maxBatchSize: z.optional(orNumber(chainFields.MAX_BATCH_SIZE)),
    confirmations: z.optional(orNumber(chainFields.CONFIRMATIONS)),
  },
  expected('an object with chainName, rpcUrl and forwarder, and no unknown field'),
);

const chainsError = expected('a JSON array of objects with chainName, rpcUrl and forwarder');

/** `RELAYER_CHAINS`: a JSON array, one object a chain. */
const chainsFormat = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    }),
  ),
  z.array(chainSchema, chainsError).check(z.minLength(1, chainsError)),
);

/** A chain as `RELAYER_CHAINS` holds it. */
export type GivenChain = z.infer<typeof chainSchema>;

/** Everything that is set for one chain. */
export interface ChainSettings {
  /** The gateway's name of it. */
  readonly chainName: string;
  /** The node that is used; the others bear it out if an answer ends a request. */
  readonly rpcUrls: readonly [string, ...string[]];
  /** In lower case. */
  readonly forwarder: `0x${string}`;
  /** Absent: the node's word. */
  readonly chainId: number | undefined;
  /** Block from which the Forwarder's events are looked for. */
  readonly fromBlock: bigint;
  /** Credits (whole tokens) for one ether, in 18-decimal fixed point. */
  readonly creditsPerEth: bigint;
  /** Ceiling of `maxFeePerGas`, in wei. */
  readonly maxFeePerGas: bigint;
  /** Most requests that are claimed and not yet reported. */
  readonly maxInFlight: number;
  /** Most writes of many users in one transaction; 1 = never gathered. */
  readonly maxBatchSize: number;
  /** Blocks that finalize a transaction, the including one counted; absent: 1 on Anvil's chain id, else 3. */
  readonly confirmations: number | undefined;
}

/**
 * Reads the chain's id out of its name, if the name says it, as `eip155:8453` does.
 *
 * @returns undefined of any other name
 * @see https://chainagnostic.org/CAIPs/caip-2
 */
export function namedChainId(chainName: string): number | undefined {
  const digits = /^eip155:([1-9][0-9]{0,15})$/.exec(chainName)?.[1];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** Of whoever works for a gateway on some chains: the relayer and the watchtower. */
export const namedChains = {
  GATEWAY_URL: setting(httpUrl(), 'the gateway; the address of this key must be on its whitelist', {
    initial: 'http://127.0.0.1:8787',
  }),
  RELAYER_PRIVATE_KEY: setting(
    privateKey(),
    '0x and 64 hex digits, or kms: and the name of a key in AWS KMS; or an encrypted keystore',
    { isSecret: true },
  ),
  RELAYER_KEYSTORE: setting(z.string(), 'path of the keystore'),
  RELAYER_KEYSTORE_PASSWORD: setting(z.string(), 'its password', { isSecret: true }),
  CHAIN_NAME: setting(chainName(), "the gateway's name of the chain, as requests carry it; eip155:8453 is chain 8453", {
    heading: 'One chain',
  }),
  RPC_URL: setting(
    rpcUrls(),
    'JSON-RPC over http or https; several with commas between: the first that answers is asked, and two have to agree before a request is ended',
    { isSecret: true },
  ),
  FORWARDER_ADDRESS: setting(address(), "the Forwarder's address"),
  RELAYER_CHAINS: setting(
    chainsFormat,
    'several chains, instead of those three, as JSON: [{"chainName", "rpcUrl", "forwarder"}], and for each, if it differs, "chainId", "fromBlock", "creditsPerEth", "maxFeeGwei", "maxInFlight", "maxBatchSize", "confirmations"',
    { isSecret: true },
  ),
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

type Named = Pick<SettingValues<typeof namedChains>, 'RELAYER_CHAINS' | (typeof SINGLE)[number]>;

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
