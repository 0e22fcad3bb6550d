import { randomBytes } from 'node:crypto';
import type { SignSource } from './loadSource.ts';
import { writeHttp } from './writeHttp.ts';

/**
 * Prepares orders of presigned URLs for a put, each of another object.
 *
 * @param source how many calls, whose tokens
 * @returns the calls
 */
export function prepareSigns(source: SignSource): Buffer[] {
  return Array.from({ length: source.count }, (_, i) => {
    const random = randomBytes(48).toString('hex');
    const body = `{"projectId":"0x${random.slice(0, 32)}","key":"0x${random.slice(32)}","operation":"put"}`;
    const headerLines = `Authorization: Bearer ${source.tokens[i % source.tokens.length]}\r\n`;
    return writeHttp({ method: 'POST', target: '/storage/sign', headerLines, body });
  });
}
