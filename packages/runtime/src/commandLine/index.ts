export { CommandLineError, parseCommandLine } from './parseCommandLine.ts';
export { USAGE_STATUS, writeFailure } from './writeFailure.ts';
