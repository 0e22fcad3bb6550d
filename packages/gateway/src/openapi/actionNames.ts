import type { Action } from '@prism-gateway/protocol';

/** Writes an action as the stem of its schemas' names: `WRITE_DATA_FOR` becomes `WriteDataFor`. */
export function schemaStemOf(action: Action): string {
  return action
    .toLowerCase()
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}
