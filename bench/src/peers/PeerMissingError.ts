/** A peer's server is not on this machine; `message` says how to get it. */
export class PeerMissingError extends Error {
  override readonly name = 'PeerMissingError';
  readonly code = 'PEER_MISSING';

  constructor(program: string, debianPackage: string) {
    super(
      `${program} is not on this machine. Install it with: sudo apt-get install -y --no-install-recommends ${debianPackage}`,
    );
  }
}
