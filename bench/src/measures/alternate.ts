/**
 * Runs steps in turn, A B A B …, once to warm up and then for the figures: what the machine does meanwhile meets all of them alike.
 *
 * @param rounds - how often for the figures
 * @param steps - each gives one figure
 * @returns the figures of each step, in the order of the rounds
 */
export async function alternate<Name extends string>(
  rounds: number,
  steps: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  // The keys of `steps` are its names; Object.keys has a wider type.
  const names = Object.keys(steps) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const figure = await steps[name]();
      if (round > 0) figures[name].push(figure);
    }
  }
  return figures;
}
