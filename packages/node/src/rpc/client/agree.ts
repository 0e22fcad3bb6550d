/** The nodes' values of something that only grows, the largest first. */
const sortDown = <T extends number | bigint>(answers: readonly T[]) =>
  answers.toSorted((one, other) => (one < other ? 1 : -1));

/** @throws TypeError if nobody has answered: a defect */
function take<T>(answers: readonly T[], place: number): T {
  const [chosen] = answers.slice(place);
  if (chosen === undefined) throw new TypeError('nobody has answered');
  return chosen;
}

/**
 * Finds what nodes say together of something that only grows: the most that two of them reach, so that one alone can neither raise it nor,
 * beside two others, lower it. Of two that differ the lower counts.
 *
 * @param answers - of those that answer; at least one
 */
export function leastAgreed<T extends number | bigint>(answers: readonly T[]): T {
  return take(sortDown(answers), answers.length === 1 ? 0 : 1);
}

/** As `leastAgreed`; but of two that differ the higher counts. */
export function mostAgreed<T extends number | bigint>(answers: readonly T[]): T {
  return take(sortDown(answers), answers.length <= 2 ? 0 : 1);
}
