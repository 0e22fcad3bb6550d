/**
 * The twelve actions, in the order of the specification's table; the combined creation flow comes last.
 *
 * @see docs/specification.md PARAM-1
 */
export const ACTIONS = [
  'CREATE_PRISM_FOR',
  'WRITE_DATA_FOR',
  'MODIFY_DATA_FOR',
  'DELETE_DATA_FOR',
  'TRANSFER_PRISM_FOR',
  'ACCEPT_TRANSFER_FOR',
  'DELETE_PRISM_FOR',
  'BATCH_WRITE_DATA_FOR',
  'BATCH_MODIFY_DATA_FOR',
  'BATCH_DELETE_DATA_FOR',
  'BATCH_MULTI_USER_WRITE_DATA',
  'CREATE_PRISM_WITH_DATA_FOR',
] as const;

/** A request's action at the Forwarder. */
export type Action = (typeof ACTIONS)[number];

const known: ReadonlySet<unknown> = new Set(ACTIONS);

/** Whether a value of any type names an action. */
export function isAction(value: unknown): value is Action {
  return known.has(value);
}
