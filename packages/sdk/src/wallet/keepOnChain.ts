import type { Eip1193Provider } from '../user/openSigner.ts';

/** A chain, as a wallet is given it. @see https://eips.ethereum.org/EIPS/eip-3085 */
export interface AddedChain {
  readonly chainName: string;
  readonly rpcUrls: readonly string[];
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly blockExplorerUrls?: readonly string[];
}

/** The chain that signatures are for. */
export interface WantedChain {
  /** EIP-155 id: that of the client's `domain`. */
  readonly chainId: number;
  /** The chain to add to a wallet that does not know it; default: none is added. */
  readonly add?: AddedChain | undefined;
}

/** The method that depends on the wallet's chain: wallets refuse typed data of another one. */
const SIGNING_METHOD = 'eth_signTypedData_v4';
/** The wallet does not know the chain. @see https://eips.ethereum.org/EIPS/eip-3326 */
const UNRECOGNIZED = 4902;

const toHex = (chainId: number) => `0x${chainId.toString(16)}`;

/** Some wallets put the code into the error of an error. */
function isUnrecognized(error: unknown): boolean {
  const { code, data } = Object(error);
  return code === UNRECOGNIZED || Object(Object(data).originalError).code === UNRECOGNIZED;
}

async function readChainId(provider: Eip1193Provider): Promise<number> {
  // Hex, as EIP-695 has it; some wallets give a number.
  return Number(await provider.request({ method: 'eth_chainId' }));
}

async function switchChain(provider: Eip1193Provider, { chainId, add }: WantedChain): Promise<void> {
  const actual = await readChainId(provider);
  if (actual === chainId) return;
  const facts = { wanted: chainId, actual };
  const [wanted, params] = [{ chainId: toHex(chainId) }, [{ chainId: toHex(chainId) }]];
  const change = () => provider.request({ method: 'wallet_switchEthereumChain', params });
  try {
    await change().catch(async (error: unknown) => {
      if (!isUnrecognized(error)) throw error;
      if (add === undefined) throw new ChainSwitchError('CHAIN_UNKNOWN', { ...facts, cause: error });
      await provider.request({ method: 'wallet_addEthereumChain', params: [{ ...wanted, ...add }] });
      // Not every wallet switches to what it was given.
      if ((await readChainId(provider)) !== chainId) await change();
    });
  } catch (error) {
    throw error instanceof ChainSwitchError
      ? error
      : new ChainSwitchError('CHAIN_NOT_SWITCHED', { ...facts, cause: error });
  }
  const now = await readChainId(provider);
  if (now !== chainId) throw new ChainSwitchError('CHAIN_NOT_SWITCHED', { wanted: chainId, actual: now });
}

/**
 * Makes a browser wallet that is on the right chain whenever it is asked to sign: if it is on another one it is switched first, and given
 * of a chain that it does not know. Everything else goes through as it is.
 *
 * @param provider - the wallet, such as `window.ethereum`
 * @param chain - the chain that is signed for
 * @returns a provider for `createUserClient`, or for viem's `custom`; a signature throws ChainSwitchError CHAIN_UNKNOWN,
 * CHAIN_NOT_SWITCHED
 * @see https://eips.ethereum.org/EIPS/eip-3326
 * @example
 * const provider = keepOnChain(window.ethereum, { chainId: 31337, add: { chainName: 'Devnet', rpcUrls, nativeCurrency } });
 * const user = createUserClient({ gateway, provider, publicClient, chainName, domain });
 */
export function keepOnChain(provider: Eip1193Provider, chain: WantedChain): Eip1193Provider {
  let switching: Promise<void> | undefined;
  return {
    async request(call) {
      if (call.method === SIGNING_METHOD) {
        // A user is asked once, however many signatures wait.
        switching ??= switchChain(provider, chain).finally(() => {
          switching = undefined;
        });
        await switching;
      }
      return await provider.request(call);
    },
  };
}

/** Why a wallet is not on the chain that a request is for, as a program matches it. */
export type ChainSwitchErrorCode =
  /** The wallet does not know the chain, and was not given it. */
  | 'CHAIN_UNKNOWN'
  /** The wallet, or its user, did not switch. */
  | 'CHAIN_NOT_SWITCHED';

const remedies: Readonly<Record<ChainSwitchErrorCode, string>> = {
  CHAIN_UNKNOWN: 'the wallet does not know that one: name its RPC URLs in `add`, or add it to the wallet.',
  CHAIN_NOT_SWITCHED: 'the wallet did not switch: choose that one in the wallet, and try again.',
};

/** A wallet is on another chain than the one to sign for. Nothing was signed. */
export class ChainSwitchError extends Error {
  override readonly name = 'ChainSwitchError';
  readonly code: ChainSwitchErrorCode;
  /** EIP-155 id of the chain to sign for. */
  readonly wanted: number;
  /** EIP-155 id of the chain that the wallet is on. */
  readonly actual: number;

  /** @param facts.cause - what the wallet threw, such as code 4001 if its user refused */
  constructor(
    code: ChainSwitchErrorCode,
    facts: { readonly wanted: number; readonly actual: number; readonly cause?: unknown },
  ) {
    const { wanted, actual, cause } = facts;
    super(`The wallet is on chain ${actual}, and is to sign for chain ${wanted}; ${remedies[code]}`, { cause });
    this.code = code;
    this.wanted = wanted;
    this.actual = actual;
  }
}
