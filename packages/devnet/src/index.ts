export { type DeployOptions, deployContracts } from './deployContracts.ts';
export { DeploymentError } from './deploymentError.ts';
export { AnvilStartError, type Devnet, type DevnetOptions, startDevnet } from './startDevnet.ts';
