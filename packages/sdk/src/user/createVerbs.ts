import type { RequestRecord } from '@prism-gateway/protocol';
import { REQUEST_STRUCTS, type SignedAction } from '@prism-gateway/protocol/typed-data';
import type { CallOptions } from '../requests/getRequest.ts';
import type { WaitOptions } from '../requests/waitForRequest.ts';
import type { ActionInput } from './actionInput.ts';

/** A request that the gateway has stored. */
export interface Submission<A extends SignedAction = SignedAction> {
  readonly requestId: string;
  /** As the gateway answered. */
  readonly record: RequestRecord<A>;
  /** The forwarder nonce that it was signed with. */
  readonly nonce: bigint;
  /** Waits until it has ended. @throws GatewayError WAIT_TIMED_OUT, ABORTED */
  wait(options?: WaitOptions): Promise<RequestRecord>;
}

/** How an action is submitted. */
export interface SubmitOptions extends CallOptions {
  /**
   * A request that pays too little by now: the action is signed with its forwarder nonce instead of the next, so that one of the two is
   * carried out and the other one ends failed. Meant for the same action with a higher fee.
   */
  readonly replaces?: Pick<Submission, 'nonce'> | undefined;
}

/** Signs an action with the next forwarder nonce, and submits it. */
export type Verb<A extends SignedAction> = (input: ActionInput<A>, options?: SubmitOptions) => Promise<Submission<A>>;

/** One verb for each action that a user signs: the action's name without `_FOR`, in camel case. */
export interface UserVerbs {
  /** Creates a prism, funded by a permit if `fundAmount` is above 0. Its id: `deriveCloudId`. */
  readonly createPrism: Verb<'CREATE_PRISM_FOR'>;
  /** Creates a prism and writes its first entries, in one transaction. */
  readonly createPrismWithData: Verb<'CREATE_PRISM_WITH_DATA_FOR'>;
  /** Writes a new entry. */
  readonly writeData: Verb<'WRITE_DATA_FOR'>;
  /** Replaces an entry. */
  readonly modifyData: Verb<'MODIFY_DATA_FOR'>;
  readonly deleteData: Verb<'DELETE_DATA_FOR'>;
  /** Offers a prism to a new owner, who takes it by `acceptTransfer`. */
  readonly transferPrism: Verb<'TRANSFER_PRISM_FOR'>;
  readonly acceptTransfer: Verb<'ACCEPT_TRANSFER_FOR'>;
  readonly deletePrism: Verb<'DELETE_PRISM_FOR'>;
  /** Writes several entries, in one transaction. */
  readonly batchWriteData: Verb<'BATCH_WRITE_DATA_FOR'>;
  readonly batchModifyData: Verb<'BATCH_MODIFY_DATA_FOR'>;
  readonly batchDeleteData: Verb<'BATCH_DELETE_DATA_FOR'>;
}

/** `BATCH_WRITE_DATA_FOR` is `batchWriteData`. */
function verbOf(action: string): string {
  return action
    .slice(0, -'_FOR'.length)
    .toLowerCase()
    .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Makes the verbs.
 *
 * @param submit - what each verb does, with its action
 */
export function createVerbs(
  submit: (action: SignedAction, input: ActionInput, options?: SubmitOptions) => unknown,
): UserVerbs {
  // The keys of the structs are the actions.
  const actions = Object.keys(REQUEST_STRUCTS) as SignedAction[];
  const verbs = actions.map((action) => [verbOf(action), submit.bind(undefined, action)]);
  // The interface names them all; a test compares the two.
  return Object.fromEntries(verbs) as UserVerbs;
}
