import type { SignedAction, UnsignedParams } from '@prism-gateway/protocol/typed-data';
import { definedOf } from '../http/definedOf.ts';

/** Params that are amounts, in base units of the credit token (18 decimals). */
type Amount = 'relayerFee' | 'fundAmount' | 'relayerFundAmount';

/**
 * A user's input for an action: its params before they are signed, amounts as `bigint`.
 *
 * `timestamp` is Unix time in seconds, and now if it is absent.
 */
export type ActionInput<A extends SignedAction = SignedAction> = A extends SignedAction
  ? {
      readonly [K in keyof UnsignedParams<A> as K extends 'timestamp' ? never : K]: K extends Amount
        ? bigint
        : UnsignedParams<A>[K];
    } & { readonly timestamp?: bigint | undefined }
  : never;

/**
 * Writes an action's params as they cross the wire.
 *
 * @param input - amounts as `bigint`
 * @param nowMs - Unix time in milliseconds
 */
export function writeParams<A extends SignedAction>(input: ActionInput<A>, nowMs: number): UnsignedParams<A> {
  const given = { timestamp: BigInt(Math.floor(nowMs / 1000)), ...definedOf(input) };
  const params = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  );
  // The input is the action's params but for the amounts and the time, which are text by now.
  return params as unknown as UnsignedParams<A>;
}
