import type { Cleanup } from './cleanup.ts';
import type { LoadCalls } from './load/loadCalls.ts';
import type { Options } from './options.ts';
import type { StartCommand } from './processes/readStartCommand.ts';
import type { Child } from './processes/startChild.ts';
import type { Scale } from './scale.ts';
import type { KeyPair } from './signing/createKeyPair.ts';

/** What every measure works with. */
export interface BenchContext {
  readonly options: Options;
  readonly scale: Scale;
  /** How `npm start` runs the gateway. */
  readonly startCommand: StartCommand;
  /** The process that makes the load. */
  readonly load: Child<LoadCalls>;
  /** Throwaway keys; `startGateway` whitelists them. */
  readonly relayers: readonly KeyPair[];
  /** Empty folder of this bench, removed at the end. */
  readonly dir: string;
  /** What is still to be stopped and removed: of one measure, or of the whole bench. */
  readonly cleanup: Cleanup;
  /** Tells what happens now, to a person who waits. */
  tell(line: string): void;
}
