export { DeploymentError } from './createDeploymentError.ts';
export { type DeployOptions, deployContracts } from './deployContracts.ts';
export { AnvilStartError, type Devnet, type DevnetOptions, startDevnet } from './startDevnet.ts';
