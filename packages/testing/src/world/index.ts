export { createPrisms, type PrismUser } from './createPrisms.ts';
export { signWrite, type WriteWish } from './signWrite.ts';
export { type GatewayOptions, type RunningGateway, startGateway } from './startGateway.ts';
export { type Program, ProgramEndedError, type ProgramEnv, type ProgramOptions, startProgram } from './startProgram.ts';
export { startWorld, type World, type WorldOptions } from './startWorld.ts';
