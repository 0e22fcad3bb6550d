type Row = readonly string[];

const cellsOf = (line: string): Row =>
  line
    .replaceAll('`', '')
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Tables of a Markdown text, each with its head first and without the rule below it. */
function readTables(paper: string): readonly (readonly Row[])[] {
  const tables: Row[][] = [];
  let isInTable = false;
  for (const line of paper.split('\n')) {
    const isRow = line.startsWith('|');
    if (isRow && !isInTable) tables.push([]);
    isInTable = isRow;
    if (isRow && !/^[|\s:-]+$/.test(line)) tables.at(-1)?.push(cellsOf(line));
  }
  return tables;
}

/** Compares a row of the paper with the one that was printed, column by column of the paper. */
function compareRow(row: Row, head: Row, printed: readonly Row[]): string[] {
  const [name = ''] = row;
  const [printedHead = [], ...body] = printed;
  const found = body.find(([first]) => first === name);
  if (found === undefined) return [`${head[0]} ${name} was not printed`];
  return head.flatMap((column, index) => {
    const [written, counted] = [row[index], found[printedHead.indexOf(column)]];
    return written === counted ? [] : [`${head[0]} ${name}, "${column}": ${written}, and ${counted} was printed`];
  });
}

/**
 * Compares a document with what a command has printed: the table of the same first column, and sentences. The document may leave rows and
 * columns out.
 *
 * @param paper - Markdown
 * @param printed - tables, each with its head first; sentences that must stand in the text, however its lines are broken
 * @returns what differs, a line each; empty: nothing
 */
export function findPaperFaults(
  paper: string,
  { tables = [], sentences = [] }: { readonly tables?: readonly (readonly Row[])[]; readonly sentences?: Row },
): readonly string[] {
  const written = readTables(paper);
  const text = paper.replaceAll(/\s+/g, ' ');
  return [
    ...tables.flatMap((printed) => {
      const name = printed[0]?.[0];
      const found = written.find(([head]) => head?.[0] === name);
      if (found === undefined) return [`there is no table of "${name}"`];
      const [head = [], ...body] = found;
      return body.flatMap((row) => compareRow(row, head, printed));
    }),
    ...sentences.filter((sentence) => !text.includes(sentence)).map((sentence) => `"${sentence}" is not said`),
  ];
}
