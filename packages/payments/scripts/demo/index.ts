/** What demos, benchmarks and tests of the payment relayer stand on: a devnet, a reference frontend, funded keys, and the real programs. */
export { encodeApproval, encodeBuy, encodePayout } from '../../src/chain/marks.ts';
export { type PaymentsRig, type RigKey, startPaymentsRig } from './startPaymentsRig.ts';
export { type Program, startProgram } from './startProgram.ts';
export { waitUntil } from './waitUntil.ts';
