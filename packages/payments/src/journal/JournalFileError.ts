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
