export { type Keccak256, loadKeccak256 } from './keccak/loadKeccak256.ts';
export { loadSecp256k1, type RecoverPublicKey, type Secp256k1 } from './secp256k1/loadSecp256k1.ts';
