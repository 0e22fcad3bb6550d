/** ABIs, addresses and pure functions: for a browser as for Node. The creation codes have an entry of their own. */
export { type Deployment, predictAddresses } from './deployment.ts';
export {
  encodeForwarderCall,
  FORWARDER_FUNCTIONS,
  type ForwarderCall,
  type ForwarderCallSource,
  type ForwarderFunction,
} from './encodeForwarderCall.ts';
export { cloudAbi } from './generated/cloudAbi.ts';
export { coreAbi } from './generated/coreAbi.ts';
export { creditTokenAbi } from './generated/creditTokenAbi.ts';
export { exchangeAbi } from './generated/exchangeAbi.ts';
export { forwarderAbi } from './generated/forwarderAbi.ts';
export { payoutsAbi } from './generated/payoutsAbi.ts';
export { stablecoinAbi } from './generated/stablecoinAbi.ts';
export { type RequestExecuted, readRequestExecuted } from './requestExecuted.ts';
