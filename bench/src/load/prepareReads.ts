import type { ReadSource } from './loadSource.ts';
import { writeHttp } from './writeHttp.ts';

/**
 * Prepares public reads of single requests.
 *
 * @param source which ids, how many calls
 * @returns the calls
 */
export function prepareReads(source: ReadSource): Buffer[] {
  const reads = source.requestIds.map((id) => writeHttp({ method: 'GET', target: `/requests/${id}` }));
  // `i % length` is an index of a list that is not empty.
  return Array.from({ length: source.count }, (_, i) => reads[i % reads.length]!);
}
