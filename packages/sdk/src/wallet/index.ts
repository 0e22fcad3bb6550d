export {
  type AddedChain,
  ChainSwitchError,
  type ChainSwitchErrorCode,
  keepOnChain,
  type WantedChain,
} from './keepOnChain.ts';
export { type ActionOrder, SubmitManyError, type SubmitManyOptions, submitMany } from './submitMany.ts';
