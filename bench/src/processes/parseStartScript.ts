/** What a start script says. */
export interface StartScript {
  readonly env: Readonly<Record<string, string>>;
  readonly nodeFlags: readonly string[];
  /** File that it runs, from the root. */
  readonly entry: string;
}

/**
 * Takes a start script apart.
 *
 * @param script like `A=b node --flag src/server.ts`
 * @returns environment, flags and entry
 * @throws Error when it has another form
 */
export function parseStartScript(script: string): StartScript {
  const [before = '', after] = script.split(/(?:^|\s)node\s+/);
  const words = after?.trim().split(/\s+/) ?? [];
  const entry = words.pop();
  // `exec` only spares the shell's process.
  const assignments = before.split(/\s+/).filter((word) => word !== '' && word !== 'exec');
  if (entry === undefined || !words.every((word) => word.startsWith('-')) || !assignments.every(isAssignment)) {
    throw new Error(`The bench does not understand the start script: ${script}`);
  }
  const env = Object.fromEntries(assignments.map((word) => word.split('=', 2) as [string, string]));
  return { env, nodeFlags: words, entry };
}

function isAssignment(word: string): boolean {
  return /^\w+=/.test(word);
}
