/**
 * Creates a function that runs asynchronous acts one at a time, in the order of the calls.
 *
 * @returns the function; it returns what the act returns, or throws what it throws
 */
export function createTurns(): <Result>(act: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const turn = last.then(act, act);
    last = turn.catch(() => undefined);
    return turn;
  };
}
