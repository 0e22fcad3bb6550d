/**
 * Picks some of a list at random, each as likely as any other.
 *
 * @param from.list - what to pick from; left as it is
 * @param from.count - how many; a fraction is one more with that chance
 * @param from.random - from 0 to 1
 * @returns in random order
 */
export function pickAtRandom<T>(from: {
  readonly list: readonly T[];
  readonly count: number;
  readonly random: () => number;
}): T[] {
  const { list, count, random } = from;
  const whole = Math.floor(count) + (random() < count - Math.floor(count) ? 1 : 0);
  const rest = [...list];
  const picked: T[] = [];
  while (picked.length < whole && rest.length > 0) {
    const [one] = rest.splice(Math.floor(random() * rest.length), 1);
    // The index is within the list.
    picked.push(one as T);
  }
  return picked;
}
