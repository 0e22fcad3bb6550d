/**
 * Keeps an answer for a while: calls at the same time share one question, and a failure is not kept.
 *
 * @param options - a clock that is never set, in milliseconds, and for how long an answer serves
 */
export function keepFresh<Value>(
  options: { readonly now: () => number; readonly freshMs: number },
  ask: () => Promise<Value>,
): () => Promise<Value> {
  const { now, freshMs } = options;
  let kept: { readonly atMs: number; readonly value: Promise<Value> } | undefined;
  return () => {
    if (kept !== undefined && now() - kept.atMs <= freshMs) return kept.value;
    const asked = { atMs: now(), value: ask() };
    kept = asked;
    asked.value.catch(() => {
      if (kept === asked) kept = undefined;
    });
    return asked.value;
  };
}
