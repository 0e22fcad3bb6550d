// @ts-check
/**
 * Finds the name that somebody most likely meant.
 *
 * @param {string} word what was typed
 * @param {readonly string[]} names what there is; at least one
 * @returns {string} the name that takes the fewest letters put in, taken out or changed; of equals the first
 */
export function findNearest(word, names) {
  const distances = names.map((name) => countEdits(word, name));
  return /** @type {string} */ (names[distances.indexOf(Math.min(...distances))]);
}

/**
 * The Levenshtein distance, row by row.
 *
 * @param {string} from
 * @param {string} to
 */
function countEdits(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const changed = at(row, column - 1) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(changed, at(row, column) + 1, at(next, column - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

/**
 * @param {readonly number[]} row
 * @param {number} index within the row
 */
const at = (row, index) => /** @type {number} */ (row[index]);
