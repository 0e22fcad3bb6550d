export { ChainSwitchError, type ChainSwitchErrorCode } from './chainSwitchError.ts';
export type { ActionOrder } from './joinActions.ts';
export { type AddedChain, keepOnChain, type WantedChain } from './keepOnChain.ts';
export { SubmitManyError, type SubmitManyOptions, submitMany } from './submitMany.ts';
