/** Where the demo writes: lines that stay, and below them lines that are redrawn. */
export interface Screen {
  /** Writes a line that stays. */
  log(line: string): void;
  /** Shows how things stand: redrawn on a terminal; else its first line, about once a second. */
  update(lines: readonly string[]): void;
  /** Lets what `update` has shown stay. */
  settle(): void;
}

/** The part of a writable stream that is used. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Pause between two lines where nothing can be redrawn, in milliseconds. */
const PLAIN_INTERVAL_MS = 1000;
const NARROWEST = 20;

function createPlainScreen(output: Output, now: () => number): Screen {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    log: (line) => void output.write(`${line}\n`),
    update([line = '']) {
      if (now() - shownAt < PLAIN_INTERVAL_MS) return;
      shownAt = now();
      output.write(`${line}\n`);
    },
    settle() {},
  };
}

function createTerminalScreen(output: Output): Screen {
  let drawn: readonly string[] = [];
  // To the first drawn line, and clear from there to the end.
  const erase = () => (drawn.length === 0 ? '' : `\x1b[${drawn.length}A\x1b[0J`);
  const draw = (lines: readonly string[], before = '') => {
    // A line that the terminal breaks would count twice.
    const width = Math.max(NARROWEST, (output.columns ?? 80) - 1);
    const fitting = lines.map((line) => line.slice(0, width));
    output.write(`${erase()}${before}${fitting.map((line) => `${line}\n`).join('')}`);
    drawn = fitting;
  };
  return {
    log: (line) => draw(drawn, `${line}\n`),
    update: (lines) => draw(lines),
    settle() {
      drawn = [];
    },
  };
}

/**
 * Makes the screen.
 *
 * @param output - standard output, or what stands for it
 * @param now - time in milliseconds
 */
export function createScreen(output: Output, now: () => number): Screen {
  return output.isTTY ? createTerminalScreen(output) : createPlainScreen(output, now);
}
