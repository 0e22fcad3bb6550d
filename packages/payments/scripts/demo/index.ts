/** The base of demos, benchmarks and tests of the payment relayer: a devnet, a reference frontend, and funded keys. */
export { encodeApproval, encodeBuy, encodePayout } from '../../src/chain/calls.ts';
export { type PaymentsRig, type RigKey, startPaymentsRig } from './startPaymentsRig.ts';
export { waitUntil } from './waitUntil.ts';
