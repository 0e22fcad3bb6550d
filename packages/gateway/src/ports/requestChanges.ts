import type { RequestStatus } from '@prism-gateway/protocol';

/**
 * The change that somebody waits for: another status of a request than the one it knows, something that becomes pending in a chain, or a
 * move of any request. Of the last, other processes' moves may be announced late, or not at all.
 */
export type ChangeInterest =
  | { readonly requestId: string; readonly status: RequestStatus }
  | { readonly chainName: string }
  | { readonly anything: true };

/**
 * Port: notifies when it is worth looking at the queue again. Ten thousand may watch at once, and cost nothing while nothing moves.
 */
export interface RequestChanges {
  /**
   * Calls `onChange` whenever what is watched may have moved, whichever process moved it: always after the first read that can see the
   * move, and after none that could see it before the watch began. It may call without need, but not for ever without a pause.
   * Lapses of claims are not reported.
   *
   * @param interest - `requestId` in lower case
   * @returns ends the watch; nothing is called afterwards
   */
  watch(interest: ChangeInterest, onChange: () => void): () => void;
}
