/** Something that a command needs does not answer, or is not what its setting says. */
export class UnreachedError extends Error {
  override readonly name = 'UnreachedError';
  readonly code = 'NOT_REACHED';

  /**
   * @param facts.seen - one clause: what was asked and what came of it; without an address, which may hold a key
   * @param facts.setting - what names it
   * @param facts.act - one clause: what to do
   */
  constructor(facts: { readonly seen: string; readonly setting: string; readonly act: string }) {
    super(`${facts.seen}. ${facts.setting} names it: ${facts.act}.`);
  }
}
