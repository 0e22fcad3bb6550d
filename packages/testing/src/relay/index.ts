export { createPrisms, type PrismUser } from './createPrisms.ts';
export { signWrite, type WriteWish } from './signWrite.ts';
export { type RelayerEnv, type RelayerProcess, startRelayerProcess } from './startRelayerProcess.ts';
export { type RelayWorld, type RelayWorldOptions, startRelayWorld } from './startRelayWorld.ts';
