import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { Item } from './attributes.ts';

/** What became of a write with a condition: done, or refused with the item as it stands (undefined: there is none). */
export type ConditionalAnswer<T> =
  | { readonly done: true; readonly output: T }
  | { readonly done: false; readonly item: Item | undefined };

/**
 * Runs calls to the tables; whatever they throw, after the client's own tries, is an outage to the caller.
 *
 * @param ask - the calls
 * @throws DependencyUnavailableError
 */
export async function askStore<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new DependencyUnavailableError('store', { cause: error });
  }
}

/**
 * Runs one write with a condition. That the condition failed says nothing about who made it fail: after a lost answer the
 * client asks again, and then finds its own write.
 *
 * @param ask - the call; it asks for the item where the condition fails (`ReturnValuesOnConditionCheckFailure`)
 * @throws DependencyUnavailableError
 */
export async function askConditionally<T>(ask: () => Promise<T>): Promise<ConditionalAnswer<T>> {
  return await askStore(async () => {
    try {
      return { done: true, output: await ask() };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { done: false, item: error.Item };
      throw error;
    }
  });
}
