/** Things to undo at the end, last made first. */
export interface Cleanup {
  /** @param undo runs once, at the end */
  add(undo: () => Promise<void>): void;
  /** Runs all that was added; a failure of one is told on stderr and does not keep the others from running. */
  run(): Promise<void>;
  /** A cleanup of its own that ends with this one at the latest. */
  nest(): Cleanup;
}

/**
 * Makes an empty cleanup.
 *
 * @returns the cleanup
 */
export function createCleanup(): Cleanup {
  const undos: (() => Promise<void>)[] = [];
  const cleanup: Cleanup = {
    add: (undo) => {
      undos.push(undo);
    },
    async run() {
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
        try {
          await undo();
        } catch (error) {
          console.error('Something could not be tidied up:', error);
        }
      }
    },
    nest() {
      const inner = createCleanup();
      cleanup.add(() => inner.run());
      return inner;
    },
  };
  return cleanup;
}
