import { readFile } from 'node:fs/promises';

/** Bytes of a write-ahead log's header, and of the header of each of its frames. */
const [WAL_HEADER, FRAME_HEADER] = [32, 24];

/**
 * Counts the commits in a database's write-ahead log: frames that say how large the database is after them.
 *
 * @see https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export async function countCommits(file: string): Promise<number> {
  const wal = await readFile(`${file}-wal`);
  const frame = FRAME_HEADER + wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = WAL_HEADER; at + frame <= wal.length; at += frame) {
    // A frame of an earlier round of the log has another salt.
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}
