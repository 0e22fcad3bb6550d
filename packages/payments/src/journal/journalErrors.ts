/** The journal in `DATA_DIR` was kept for another key or chain. */
export class JournalOwnerError extends Error {
  override readonly name = 'JournalOwnerError';
  readonly code = 'JOURNAL_OF_ANOTHER';

  /**
   * @param known - whose journal it is: address and chain
   * @param given - who would write into it
   */
  constructor(known: string, given: string) {
    super(
      `DATA_DIR holds the journal of ${known}, and this is ${given}. Each key has a folder of its own: set DATA_DIR.`,
    );
  }
}

/** The journal's file or folder cannot be used. */
export class JournalFileError extends Error {
  override readonly name = 'JournalFileError';
  readonly code = 'JOURNAL_UNUSABLE';

  /**
   * @param file - the journal, or its folder
   * @param reason - a few words
   */
  constructor(file: string, reason: string) {
    super(
      `The journal ${file} cannot be used: ${reason}. DATA_DIR names its folder: name the right one, or put a backup in its place.`,
    );
  }
}
