import { BaseError } from 'viem';

/** Longest explanation that is kept. */
const MAX_LENGTH = 500;

/**
 * Says what went wrong without the address of a node, which may hold a key: viem's own messages carry it.
 *
 * @returns name and message; URLs are left out
 */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const message = error instanceof BaseError ? error.shortMessage : error.message;
  // A node's words end up in terminals and mails.
  const plain = `${error.name}: ${message}`.replaceAll(/\p{Cc}+/gu, ' ');
  return plain.replaceAll(/\bhttps?:\/\/[^\s"']+/g, '[url]').slice(0, MAX_LENGTH);
}
