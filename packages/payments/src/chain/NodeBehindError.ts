/** The node, or a part of it, is behind what was seen of the chain already: what it says is not believed until it has caught up. */
export class NodeBehindError extends Error {
  override readonly name = 'NodeBehindError';
  readonly code = 'NODE_BEHIND';

  /** @param what - one clause: what does not agree */
  constructor(what: string) {
    super(`The node is behind: ${what}. Nothing is paid until it has caught up; check the node.`);
  }
}
