import { readFile } from 'node:fs/promises';
import { findPaperFaults } from '../../report/findPaperFaults.ts';

const root = new URL('../../../../', import.meta.url);

/**
 * Compares what was printed with a document, and says what differs.
 *
 * @param path - from the repository's root
 * @returns whether nothing does
 */
export async function checkPaper(path: string, printed: Parameters<typeof findPaperFaults>[1]): Promise<boolean> {
  const faults = findPaperFaults(await readFile(new URL(path, root), 'utf8'), printed);
  for (const fault of faults) console.log(`${path}: ${fault}`);
  if (faults.length === 0) console.log(`\n${path} says the same.`);
  return faults.length === 0;
}
