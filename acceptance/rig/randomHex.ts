import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';

/** `0x` and random bytes. @param bytes - how many */
export function randomHex(bytes: number): Hex {
  return `0x${randomBytes(bytes).toString('hex')}`;
}
