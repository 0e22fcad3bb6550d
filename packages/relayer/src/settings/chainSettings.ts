import * as z from 'zod/mini';
import {
  addressFormat,
  chainNameFormat,
  expected,
  fixedPointFormat,
  httpUrlFormat,
  wholeNumberFormat,
} from './settingFormats.ts';

/** Highest chain id that is still an exact number. */
const MAX_CHAIN_ID = Number.MAX_SAFE_INTEGER;

/** Takes a JSON number or its text alike. */
function orNumber<T extends z.ZodMiniType>(format: T) {
  return z.pipe(
    z.transform((value: unknown) => (typeof value === 'number' ? String(value) : value)),
    format,
  );
}

/** What is set for each chain; a chain that does not say it takes it from the general settings. */
export const chainFields = {
  CREDITS_PER_ETH: fixedPointFormat,
  MAX_FEE_GWEI: fixedPointFormat,
  MAX_IN_FLIGHT: wholeNumberFormat(1, 10_000),
  MAX_BATCH_SIZE: wholeNumberFormat(1, 500),
  CONFIRMATIONS: wholeNumberFormat(1, 1000),
} as const;

const chainSchema = z.strictObject(
  {
    chainName: chainNameFormat,
    rpcUrl: httpUrlFormat,
    forwarder: addressFormat,
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
export const chainsFormat = z.pipe(
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
  readonly rpcUrl: string;
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
  /** Blocks that settle a transaction, the including one counted; absent: 1 on Anvil's chain id, else 3. */
  readonly confirmations: number | undefined;
}
