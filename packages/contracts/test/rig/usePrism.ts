import type { Hex } from 'viem';
import { type ChainRig, CREDIT, createUser, DEFAULT_FEE } from '../chainRig.ts';
import { useChain } from '../useChain.ts';

export const PROTOCOL_FEE = CREDIT / 10n;
export const alice = createUser('alice');
export const bob = createUser('bob');

/** The chain of the test that runs. */
export let rig: ChainRig;
/** Alice's prism there, with `FUNDS` in it. */
export let cloudId: Hex;

/** Gives each test of a file a chain on which Alice has a prism. */
export function usePrism(): void {
  useChain(async (started) => {
    rig = started;
    cloudId = await rig.createPrism(alice);
  });
}

/** Alice writes an entry. */
export const write = (dataId: string, payload: string) =>
  rig.act({ action: 'WRITE_DATA_FOR', signer: alice, params: { cloudId, dataId, payload } });

/** The event of a request that was carried out. */
export const executed = (signer: string, nonce: bigint) => ({
  signer,
  nonce,
  success: true,
  relayer: rig.official,
  relayerFee: DEFAULT_FEE,
  reason: '0x',
});
