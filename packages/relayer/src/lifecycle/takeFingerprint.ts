import { hash } from 'node:crypto';
import type { RelayedRecord } from './openRequest.ts';

/** Takes the fingerprint of what a request asks for, signature and all: it is the same in each copy of a request. */
export function takeFingerprint({ action, params }: Pick<RelayedRecord, 'action' | 'params'>): string {
  // Letter case says nothing in hex.
  return hash('sha1', JSON.stringify([action, params]).toLowerCase(), 'base64');
}
