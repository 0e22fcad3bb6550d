import {
  createRetention as createSqlRetention,
  type Retention,
  type RetentionOptions,
} from '../sql/createRetention.ts';
import type { Writer } from './createWriter.ts';

export type { RetentionOptions } from '../sql/createRetention.ts';

/** Removes old records, and gives the file's space back with them. */
export const createRetention = ({ write }: Pick<Writer, 'write'>, options: RetentionOptions): Retention =>
  createSqlRetention(
    { expire: (step) => write('expireStep', step), giveBack: () => write('vacuumStep', null) },
    options,
  );
