import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One rule of the specification. */
export interface SpecificationRule {
  /** Such as `CLAIM-3`. */
  readonly id: string;
  /** Heading of the part that it stands in, such as `Part I: the wire`. */
  readonly part: string;
  /** What it says, in one line. */
  readonly text: string;
}

/** A rule is a list item that begins with its id in bold, and may go on in indented lines. */
const RULE = /^- \*\*([A-Z]+-\d+)\*\* (.+(?:\n {2}.+)*)/;

/**
 * Reads the rules of `docs/specification.md`, in its order.
 *
 * @param root - folder of the repository
 * @throws Error if two rules have the same id
 */
export function readRules(root: string): ReadonlyMap<string, SpecificationRule> {
  const rules = new Map<string, SpecificationRule>();
  let part = '';
  for (const block of readFileSync(join(root, 'docs/specification.md'), 'utf8').split(/\n(?=# |- )/)) {
    part = /^# (.+)/.exec(block)?.[1] ?? part;
    const [, id, text] = RULE.exec(block) ?? [];
    if (id === undefined || text === undefined) continue;
    if (rules.has(id)) throw new Error(`docs/specification.md has two rules ${id}.`);
    rules.set(id, { id, part, text: text.replaceAll(/\s+/g, ' ') });
  }
  return rules;
}
