import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from './median.ts';

const writes = 50;
const block = Buffer.alloc(4096, 1);

/**
 * Measures what durability costs on this disk: one small write made safe.
 *
 * @param dir folder on the disk in question
 * @returns median in milliseconds
 */
export async function measureSync(dir: string): Promise<number> {
  const path = join(dir, 'sync-probe');
  const file = await open(path, 'w');
  const elapsedMs: number[] = [];
  for (let write = 0; write < writes; write += 1) {
    const startedAt = performance.now();
    await file.write(block);
    await file.datasync();
    elapsedMs.push(performance.now() - startedAt);
  }
  await file.close();
  await rm(path);
  return median(elapsedMs);
}
