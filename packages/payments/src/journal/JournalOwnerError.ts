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
