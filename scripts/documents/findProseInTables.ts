import type { Text } from './listTexts.ts';

/** Longest cell of a table, in characters: what is longer is prose. */
const MAX_CELL_LENGTH = 100;

/** A cell of a table that should be text, or that is padded. */
export interface BadCell {
  readonly path: string;
  readonly line: number;
  readonly fault: 'long' | 'padded';
}

/**
 * Finds cells of tables in Markdown that hold prose, and cells that are padded to the widest of their column, so that a new row would
 * change all others.
 */
export function findProseInTables(texts: readonly Text[]): readonly BadCell[] {
  return texts
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, content }) => {
      let isCode = false;
      return content.split('\n').flatMap((text, index): BadCell[] => {
        if (text.startsWith('```')) isCode = !isCode;
        if (isCode || !text.startsWith('|')) return [];
        const cells = text.split(/(?<!\\)\|/).slice(1, -1);
        const faults = new Set<BadCell['fault']>();
        for (const cell of cells) {
          if (cell.trim().length > MAX_CELL_LENGTH) faults.add('long');
          if (/^ {2,}\S|\S {2,}$|-{4,}/.test(cell)) faults.add('padded');
        }
        return [...faults].map((fault) => ({ path, line: index + 1, fault }));
      });
    });
}
